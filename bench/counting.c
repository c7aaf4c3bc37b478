/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attaches programs that only count where packets are counted, and empty ones beside them:
 * bench counting [--figures] IFACE HOOK…
 */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "lib/attach/device.h"
#include "lib/kernel/btf.h"
#include "bench.h"
#include "counting.h"
#include "counting.skel.h"

static struct counting_bpf *load(const char *iface, bool figures)
{
	struct counting_bpf *c = counting_bpf__open();
	struct device found = device_find(if_nametoindex(iface));
	__u64 preempt_count = 0;

	if (!c)
		die("cannot open the programs that count: %s", strerror(errno));
	if (!found.dev)
		die("cannot find the address of %s in the kernel", iface);
	c->rodata->device = found.dev;
	c->rodata->net = found.net;
	c->rodata->ifindex = if_nametoindex(iface);
	c->rodata->with_figures = figures;
	if (figures && !kernel_percpu("__preempt_count", &preempt_count))
		fputs("bench: levels of interrupts are told apart at no cost here\n", stderr);
	c->rodata->preempt_count = preempt_count;
	if (counting_bpf__load(c))
		die("cannot load the programs that count: %s", strerror(errno));
	return c;
}

/* Once for each event: of several programs at one only the first counts, or what it missed. */
static void attach(struct counting_bpf *c, const char *hook, const char *iface, bool again)
{
	const char *name = strcmp(hook, "xdp") ? hook : "of_frame";
	struct bpf_program *prog;
	char second[64];

	snprintf(second, sizeof(second), "%s_again", name);
	prog = bpf_object__find_program_by_name(c->obj, again ? second : name);
	if (!prog)
		nothing_attach(hook, iface);
	else
		hook_attach(bpf_program__fd(prog), hook, iface);
}

static void add(struct counting_row *sum, const struct counting_row *row)
{
	sum->packets += row->packets;
	sum->bytes += row->bytes;
}

/* Each packet at this point is in each figure; otherwise they would be cheap for nothing. */
static void check(const struct counting_bpf *c, enum figures_at at, __u64 packets)
{
	const struct counting_figures *rows = c->bss->figures[at][0];
	__u64 sizes = 0, fields = 0, segs = 0;

	for (int row = 0; row < COUNTING_CPUS * COUNTING_QUEUES; row++) {
		for (int i = 0; i < PKTSIZE_SLOTS; i++)
			sizes += rows[row].size[i];
		for (int i = 0; i < 4; i++)
			fields += rows[row].ecn[i];
		fields += rows[row].no_ip;
		for (int i = 0; i < FIGURES_SEGS; i++)
			segs += rows[row].segs[i];
	}
	if (sizes != packets || (at == FIGURES_RX_NIC ? fields : segs) != packets)
		die("of %llu packets at point %d %llu have a size, %llu an ECN field, %llu a part",
		    packets, at, sizes, fields, segs);
}

static void tell(const struct counting_bpf *c)
{
	static const char *const names[] = {
		"tx-stack", "tx-nic", "rx-stack", "rx-nic", "past-gro", "drops"
	};

	for (int at = 0; at < NR_COUNTED; at++) {
		struct counting_row sum = {};

		for (int cpu = 0; cpu < COUNTING_CPUS; cpu++) {
			const struct counting_drops *d = &c->bss->drops[cpu];

			for (int queue = 0; queue < COUNTING_QUEUES; queue++)
				add(&sum, &c->bss->rows[at][cpu][queue]);
			for (int i = 0; at == COUNTED_DROPS && i < COUNTING_DROPS; i++)
				add(&sum, &d->at[i].row);
			if (at == COUNTED_DROPS)
				add(&sum, &d->others);
		}
		if (c->rodata->with_figures && at == COUNTED_RX_NIC)
			check(c, FIGURES_RX_NIC, sum.packets);
		if (c->rodata->with_figures && at == COUNTED_RX_STACK)
			check(c, FIGURES_RX_STACK, sum.packets);
		printf("%s\"%s\":{\"packets\":%llu,\"bytes\":%llu}", at ? "," : "{", names[at],
		       sum.packets, sum.bytes);
	}
	puts("}");
	fflush(stdout);
}

int counting_main(int argc, char **argv)
{
	bool figures = argc > 1 && !strcmp(argv[1], "--figures");
	struct counting_bpf *c;
	char line[64];

	argc -= figures;
	argv += figures;
	if (argc < 2)
		return 2;
	c = load(argv[1], figures);
	for (int i = 2; i < argc; i++) {
		bool again = false;

		for (int k = 2; k < i; k++)
			again |= !strcmp(argv[k], argv[i]);
		attach(c, argv[i], argv[1], again);
	}
	tell(c);
	while (fgets(line, sizeof(line), stdin))
		tell(c);
	return 0;
}
