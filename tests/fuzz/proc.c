/* SPDX-License-Identifier: GPL-2.0 */
/* Fuzzes the parsing of /proc and /sys: interrupts, CPUs, symbols, socket owners, … */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/counters/counters.h"
#include "lib/attach/lock.h"
#include "lib/kernel/tracefs.h"
#include "lib/net/napis.h"
#include "lib/net/queues.h"
#include "lib/proc/cpus.h"
#include "lib/proc/holders.h"
#include "lib/proc/load.h"
#include "lib/trace/probes.h"
#include "lib/trace/running.h"
#include "lib/util/error.h"
#include "trial/scenario/effort.h"
#include "world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void wrong(const char *what)
{
	fprintf(stderr, "mismatch: %s\n", what);
	abort();
}

static void interrupt(unsigned irq, char *names, void *arg)
{
	struct vector v = { .irq = irq, .rx = QUEUE_NONE, .tx = QUEUE_NONE };
	const char *at = names;

	(void)arg;
	while (vector_next(&at, v.name))
		for (const struct driver *const *d = drivers; *d; d++)
			if (vector_match(*d, &v) && v.at + v.len > strlen(v.name))
				wrong("a queue's number past the name");
}

static void affinity(void)
{
	struct cpus affinity, effective;

	vector_affinity(1, &affinity, &effective);
}

/* A list that was parsed and written again must parse to the same set. */
static void lists(void)
{
	size_t size;
	char *line = world_piece(&size), text[4 * MAX_CPUS];
	struct cpus c, again;

	if (cpus_from_list(&c, line)) {
		cpus_text(&c, text, sizeof(text));
		if (!strstr(text, "…") && (!cpus_from_list(&again, text) || !cpus_same(&c, &again)))
			wrong("a list of CPUs is another when it is read again");
	}
	if (cpus_from_mask(&c, line))
		cpus_text(&c, text, 16);
	free(line);
}

static void load(void)
{
	struct cpu_load l, more;

	load_read(&l);
	load_read(&more);
	load_diff(&more, &l);
	for (unsigned cpu = 0; cpu < more.nr; cpu++)
		if (load_idle(&more, cpu) > 1.0001)
			wrong("a CPU is idle for more than all of the time");
	load_free(&l);
	load_free(&more);
}

static void counters(void)
{
	struct meta meta = { .ifindex = 2, .driver = "vmxnet3" };
	struct table t = { .cpus = 1, .words = 1 };

	counters_read(&meta, &t, NULL);
	free(t.keys);
	free(t.cells);
}

static void symbols(void)
{
	struct running *r = running_open(driver_find("e1000e"));

	if (r)
		running_close(r);
}

/* By the driver's table, and by a user's globs. */
static void probes(void)
{
	struct probes_wanted wanted = { .driver = driver_find("e1000e"), .module = "e1000e" };
	struct error e = {};
	struct probes p;

	if (world_number(1) & 1) {
		wanted.functions = "e1000*:*,vmlinux:a*";
		wanted.timed = "*poll*";
	}
	probes_choose(&p, &wanted, &e);
	for (unsigned i = 0; i < p.nr; i++)
		if (p.list[i].row >= p.rows)
			wrong("a function of a row that is not there");
	probes_free(&p);
}

static void effort(void)
{
	struct pmus p;
	struct effort before, now;

	pmus_open(&p);
	effort_read(&p, &before);
	effort_read(&p, &now);
	effort_diff(&now, &before);
	if (now.cpus > EFFORT_CPUS)
		wrong("more CPUs than there is room for");
	pmus_close(&p);
}

static void holder(void)
{
	struct holder h;

	if (holder_find(world_number(1), &h) && h.pid <= 0)
		wrong("no process has a socket");
	for (const char *c = h.name; *c; c++)
		if (iscntrl((unsigned char)*c))
			wrong("a process's name can drive a terminal");
}

static void threads(void)
{
	struct napis n = {};

	napis_by_name("eth0", 4, &n);
	if (n.nr > 4)
		wrong("more threads than were asked for");
	napis_free(&n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	machine_begin();
	world_begin(data + 1, size - 1, false);
	switch (data[0] % 12) {
	case 0: vectors_each(interrupt, NULL); break;
	case 1: affinity(); break;
	case 2: lists(); break;
	case 3: load(); break;
	case 4: counters(); break;
	case 5: symbols(); break;
	case 6: probes(); break;
	case 7: effort(); break;
	case 8: holder(); break;
	case 9: threads(); break;
	case 10: lock_wait(-1, "pins", true, NULL); break;
	case 11: tracefs_event("net_dev_xmit"); break;
	}
	return 0;
}
