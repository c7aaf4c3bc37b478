/* SPDX-License-Identifier: GPL-2.0 */
/* Compares every map of the packet meters with the oracle's counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/common/skb.bpf.h"
#include "compare.h"
#include "kernel.h"

void die(const char *what)
{
	fprintf(stderr, "mismatch: %s\n", what);
	abort();
}

static void same(const void *map, const void *want, size_t size, const char *name)
{
	const __u64 *got = kernel_rows(map), *should = want;

	for (size_t i = 0; i < size / 8; i++)
		if ((got ? got[i] : 0) != should[i]) {
			fprintf(stderr, "%s: word %zu is %llu, not %llu\n", name, i,
				got ? got[i] : 0ull, should[i]);
			die(name);
		}
}

static void compare_flow(const struct counts *want)
{
	const void *key, *row;

	if (kernel_entries(&flow) != want->flows)
		die("number of flows");
	row = kernel_entry(&flow, &key);
	if (row && (memcmp(row, want->flow, sizeof(want->flow)) ||
		    memcmp(key, want->flow_key, sizeof(want->flow_key))))
		die("flow");
}

static void compare_offload(const struct counts *want)
{
	const struct offload *row;
	const void *key;

	if (kernel_entries(&offload) != want->software)
		die("number of features");
	row = kernel_entry(&offload, &key);
	if (row && (row->packets != want->software_packets ||
		    row->buffers != want->software_buffers ||
		    memcmp(key, want->software_key, sizeof(want->software_key))))
		die("offload");
}

static void compare_sources(const struct counts *want)
{
	const union ecn_source_set *sets = kernel_rows(&ecn_source);
	struct ecn_source_key wanted = {};
	unsigned nr = 0;

	memcpy(&wanted, want->source, sizeof(wanted));
	for (int i = 0; sets && i < SOURCE_SETS * TABLE_WAYS; i++) {
		const struct ecn_source_way *w = &sets[i / TABLE_WAYS].way[i % TABLE_WAYS];

		if (w->turn % 2)
			die("a row is nobody's");
		nr += !!w->row.packets;
		if (w->row.packets && (w->row.packets != want->source_packets ||
				       memcmp(&w->key, &wanted, sizeof(wanted))))
			die("ecn_source");
	}
	if (nr != !!want->source_packets)
		die("number of sources");
}

void compare(const struct counts *want)
{
	same(&pktsize, want->size, sizeof(want->size), "pktsize");
	same(&ecn, want->ecn, sizeof(want->ecn), "ecn");
	same(&rxcpu, want->rxcpu, sizeof(want->rxcpu), "rxcpu");
	same(&gso, want->gso, sizeof(want->gso), "gso");
	same(&lost, want->lost, sizeof(want->lost), "lost");
	compare_sources(want);
	compare_flow(want);
	compare_offload(want);
}
