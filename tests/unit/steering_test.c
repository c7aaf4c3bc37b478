/* SPDX-License-Identifier: GPL-2.0 */
/* Full CPUs because of RPS, or of interrupts on another NUMA node, beside idle ones. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/hw/hw.h"

#define SUBJECT "steering "
#include "busy.h"

static struct hw_line lines[QUEUES];

/* Queue N is polled on CPU N, unless `at` is given; RPS of both goes to `rps`, "" is off. */
static struct hw *card(const char *rps, unsigned at)
{
	struct hw *h = setup_unknown();

	h->lines = lines;
	h->nr = QUEUES;
	cpus_from_list(&h->online, "0-3");
	for (unsigned rx = 0; rx < QUEUES; rx++) {
		lines[rx] = (struct hw_line){ .rx = rx, .tx = -1, .irq = 40 + rx };
		cpus_add(&lines[rx].may, at + rx);
		cpus_from_list(&lines[rx].rps, rps);
	}
	return h;
}

/* Two queues, each with 50000 packets per second on CPUs 0 and 1; RPS to some CPUs. */
static void check_rps(const char *name, const char *rps, const unsigned *idle, const char *id)
{
	struct snapshot *s = window(idle);

	took(s, 0, 0, 50000);
	took(s, 1, 1, 50000);
	finds(s, card(rps, 0), name, id, id ? "only CPUs 0-1, and 2 other CPUs have time" : NULL,
	      id ? "echo f > $q/rps_cpus" : NULL);
	forget(s);
}

/* The card's node, in a tree like sysfs: 0, with CPUs 0 and 1. */
static void node_read(struct hw *h)
{
	static const struct { const char *file, *line; } files[] = {
		{ "dev/0000:03:00.0/numa_node", "0" },
		{ "dev/0000:03:00.0/local_cpulist", "0-1" },
	};
	char tree[] = "/tmp/nicprobe-steering-XXXXXX", path[200];
	int sys;

	if (!mkdtemp(tree) || (sys = open(tree, O_PATH | O_DIRECTORY)) < 0)
		abort();
	mkdirat(sys, "bus", 0700);
	mkdirat(sys, "bus/pci", 0700);
	mkdirat(sys, "dev", 0700);
	mkdirat(sys, "dev/0000:03:00.0", 0700);
	check(!symlinkat("../../bus/pci", sys, "dev/0000:03:00.0/subsystem") &&
	      !symlinkat("dev/0000:03:00.0", sys, "device"), "a tree", "it cannot be made");
	for (unsigned i = 0; i < 2; i++) {
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s", tree, files[i].file);
		f = fopen(path, "w");
		if (f) {
			fprintf(f, "%s\n", files[i].line);
			fclose(f);
		}
	}
	hw_card_read(h, sys);
	h->nodes = 2;
	for (unsigned i = 0; i < 2; i++)
		unlinkat(sys, files[i].file, 0);
	unlinkat(sys, "dev/0000:03:00.0/subsystem", 0);
	unlinkat(sys, "device", 0);
	unlinkat(sys, "dev/0000:03:00.0", AT_REMOVEDIR);
	unlinkat(sys, "dev", AT_REMOVEDIR);
	unlinkat(sys, "bus/pci", AT_REMOVEDIR);
	unlinkat(sys, "bus", AT_REMOVEDIR);
	close(sys);
	rmdir(tree);
}

/* Queues 0 and 1 are polled on CPU `at` and the next, with these packets per second each. */
static void check_node(const char *name, unsigned at, uint64_t packets, const unsigned *idle,
		       const char *id)
{
	struct hw *h = card("", at);
	struct snapshot *s = window(idle);

	node_read(h);
	took(s, 0, at, packets);
	took(s, 1, at + 1, packets - 1);
	finds(s, h, name, id,
	      id ? "CPU 2 polls receive queue 0 from another NUMA node" : NULL,
	      id ? "for p in 40:0 41:1; do" : NULL);
	forget(s);
}

int main(void)
{
	check_rps("RPS to two CPUs that are full", "0-1", (unsigned[]){ 1, 2, 90, 95 },
		  "rps-few-cpus");
	check_rps("one of the two has time", "0-1", (unsigned[]){ 1, 60, 90, 95 }, NULL);
	check_rps("the others have none", "0-1", (unsigned[]){ 1, 2, 10, 20 }, NULL);
	check_rps("RPS to all", "0-3", (unsigned[]){ 1, 2, 90, 95 }, NULL);
	check_rps("all have time", "0-1", (unsigned[]){ 80, 80, 90, 95 }, NULL);
	check_node("busy CPUs of the other node", 2, 20000, (unsigned[]){ 90, 95, 12, 15 },
		   "irq-far-node");
	check_node("they have time", 2, 20000, (unsigned[]){ 90, 95, 50, 55 }, NULL);
	check_node("few packets", 2, 9000, (unsigned[]){ 90, 95, 12, 15 }, NULL);
	check_node("CPUs of the card's node", 0, 20000, (unsigned[]){ 12, 15, 90, 95 }, NULL);
	check_node("the card's node has no time", 2, 20000, (unsigned[]){ 20, 30, 12, 15 }, NULL);
	return failed > 0;
}
