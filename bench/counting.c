/* SPDX-License-Identifier: GPL-2.0 */
/* Attaches programs that only count where packets are counted, and empty ones beside them. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "lib/attach/device.h"
#include "bench.h"
#include "counting.h"
#include "counting.skel.h"

static struct counting_bpf *load(const char *iface)
{
	struct counting_bpf *c = counting_bpf__open();
	struct device found = device_find(if_nametoindex(iface));

	if (!c)
		die("cannot open the programs that count: %s", strerror(errno));
	if (!found.dev)
		die("cannot find the address of %s in the kernel", iface);
	c->rodata->device = found.dev;
	c->rodata->net = found.net;
	c->rodata->ifindex = if_nametoindex(iface);
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
		printf("%s\"%s\":{\"packets\":%llu,\"bytes\":%llu}", at ? "," : "{", names[at],
		       sum.packets, sum.bytes);
	}
	puts("}");
	fflush(stdout);
}

int counting_main(int argc, char **argv)
{
	struct counting_bpf *c;
	char line[64];

	if (argc < 2)
		return 2;
	c = load(argv[1]);
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
