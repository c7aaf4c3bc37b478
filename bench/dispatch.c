/* SPDX-License-Identifier: GPL-2.0 */
/* Attaches programs to one tracepoint: the clock measures what the kernel takes to run them. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/attach/device.h"
#include "bench.h"
#include "dispatch.skel.h"

/* Enters an interface in the table of the stub. */
static void own(struct dispatch_bpf *d, const char *iface)
{
	const size_t places = sizeof(d->bss->table.dev) / sizeof(d->bss->table.dev[0]);
	__u32 slot = 0;
	int called = bpf_program__fd(d->progs.called);
	__u64 dev = device_find(if_nametoindex(iface)).dev;

	if (!dev)
		die("cannot find the address of %s in the kernel", iface);
	d->bss->table.dev[((__u32)dev >> 6) % places] = dev;
	if (bpf_map_update_elem(bpf_map__fd(d->maps.programs), &slot, &called, BPF_ANY))
		die("cannot fill the program array: %s", strerror(errno));
}

/* The events that the counting programs have counted. */
static unsigned long long events(const struct dispatch_bpf *d)
{
	int cpus = libbpf_num_possible_cpus();
	__u64 *counts = calloc(cpus, sizeof(*counts)), sum = 0;
	__u32 zero = 0;

	if (!counts || bpf_map_lookup_elem(bpf_map__fd(d->maps.events), &zero, counts))
		die("cannot read the count: %s", strerror(errno));
	for (int cpu = 0; cpu < cpus; cpu++)
		sum += counts[cpu];
	free(counts);
	return sum;
}

int dispatch_main(int argc, char **argv)
{
	struct dispatch_bpf *d = dispatch_bpf__open_and_load();
	const char *name = argc > 2 ? argv[2] : "";
	bool calls = !strcmp(name, "call");
	struct bpf_program *prog;
	char line[64];

	if (argc != 4)
		return 2;
	if (!d)
		die("cannot load the programs: %s", strerror(errno));
	prog = bpf_object__find_program_by_name(d->obj, calls ? "stub" : name);
	if (!prog)
		return 2;
	if (calls)
		own(d, argv[1]);
	for (int n = atoi(argv[3]); n > 0; n--)
		if (!bpf_program__attach(prog))		/* until this process ends */
			die("cannot attach a program: %s", strerror(errno));
	puts("{}");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		printf("{\"events\":%llu}\n", events(d));
		fflush(stdout);
	}
	return 0;
}
