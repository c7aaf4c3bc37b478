/* SPDX-License-Identifier: GPL-2.0 */
/* Loads the packet programs, each with one selection of meters, and checks their counts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "lib/attach/object.h"
#include "lib/attach/sizes.h"
#include "lib/core/meter.h"
#include "xdp/ecn.h"
#include "xdp/ecn_source.h"
#include "xdp/flow.h"
#include "xdp/pktsize.h"
#include "object.h"
#include "empty.skel.h"

#define QUEUES		4

#define M(name) | 1ull << METER_##name
static const __u64 all_meters = 0 PACKET_METERS(M);
#undef M

struct object objects[MAX_OBJECTS];
unsigned int nr_objects;

static const struct config config = {
	.ifindex = 1,
	.rows = QUEUES + 1,
	.rx_queues = QUEUES,
	.rx_queue = RX_QUEUE_RAW,	/* tc: test_run leaves the queue 0 */
	.l2 = 14,
	.flight_shift = 26,
	.flow_sample = FLOW_SAMPLE,
	.seed = { 0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f },
};

static void map_prepare(struct bpf_map *map, const struct config *c)
{
	const char *name = bpf_map__name(map);
	const struct meter *m = meter_find(name);
	struct config own = *c;
	int err = 0;

	if (!strcmp(name, ".rodata.config"))
		err = config_set(&own, map);
	if (m && (!(m->by & BY_KEY) || m->key.table))
		err = bpf_map__set_max_entries(map, map_rows(m, config.rows, map));
	if (err)
		die("cannot configure map %s: %s", name, strerror(-err));
}

/* `of`: whose programs they are; NULL: they need no configuration. */
static void add_object(const char *build, const char *hook, const char *meters, __u64 on,
		       const struct hook *of, struct bpf_object *obj, const char *program)
{
	struct config c = config;
	struct bpf_program *prog;
	struct object *o = &objects[nr_objects++];
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);
	struct bpf_map *map;

	if (!obj)
		die("cannot open the programs of %s: %s", build, strerror(errno));
	*o = (struct object){ .hook = hook, .meters = meters, .on = on, .obj = obj };
	snprintf(o->build, sizeof(o->build), "%s", build);
	c.on = on;
	if (of && of->configure)
		of->configure(&c);
	bpf_object__for_each_map(map, obj)
		map_prepare(map, &c);
	bpf_object__for_each_program(prog, obj)
		if (program_tell(&c, prog))
			die("cannot prepare the programs of %s", build);
	if (bpf_object__load(obj))
		die("cannot load the programs of %s: %s", build, strerror(errno));
	o->prog = bpf_program__fd(bpf_object__find_program_by_name(obj, program));
	bpf_obj_get_info_by_fd(o->prog, &info, &len);
	o->jited = info.jited_prog_len;
}

void add_empty(const char *hook, const char *program)
{
	struct empty_bpf *e = empty_bpf__open();
	struct bpf_program *prog;

	if (!e)
		die("cannot open the empty programs: %s", strerror(errno));
	bpf_object__for_each_program(prog, e->obj)
		bpf_program__set_autoload(prog, !strcmp(bpf_program__name(prog), program));
	add_object("empty", hook, "empty", 0, NULL, e->obj, program);
}

void add_tap(const char *build, const char *hook, const struct hook *tap, const char *program,
	     const char *file, const char *only)
{
	for (int id = -1; id <= NR_METERS; id++) {
		__u64 on = id < 0 ? 0 : id == NR_METERS ? all_meters : 1ull << id;
		size_t size;
		const void *elf = tap->elf(&size);

		const char *name = id < 0 ? "none" : id == NR_METERS ? "all" : meters[id]->name;

		if (on & ~all_meters || (only && strcmp(only, name)))
			continue;
		add_object(build, hook, name, on, tap,
			   file ? bpf_object__open(file) : bpf_object__open_mem(elf, size, NULL),
			   program);
	}
}

/* The sum of some words over all rows of a map and CPUs. */
static __u64 sum(struct bpf_object *obj, const char *name, unsigned int from, unsigned int words)
{
	struct bpf_map *map = bpf_object__find_map_by_name(obj, name);
	int fd = bpf_map__fd(map), cpus = libbpf_num_possible_cpus();
	size_t row_size = bpf_map__value_size(map);
	__u64 *row = calloc(cpus, row_size), total = 0;
	__u8 key[64], next[64];
	void *prev = NULL;

	while (!bpf_map_get_next_key(fd, prev, next)) {
		memcpy(key, next, sizeof(key));
		prev = key;
		if (bpf_map_lookup_elem(fd, key, row))
			continue;
		for (int cpu = 0; cpu < cpus; cpu++)
			for (unsigned int w = from; w < from + words; w++)
				total += row[cpu * row_size / 8 + w];
	}
	free(row);
	return total;
}

/* The packets of all sources, and of those that have no row any more. */
static __u64 sources(struct bpf_object *obj)
{
	int cpus = libbpf_num_possible_cpus();
	int fd = bpf_map__fd(bpf_object__find_map_by_name(obj, "ecn_source"));
	unsigned stride = table_stride(cpus), sets = table_sets(cpus);
	union ecn_source_set set;
	__u64 total = 0;

	for (__u32 nr = 0; !bpf_map_lookup_elem(fd, &nr, &set); nr++)
		for (int i = 0; i < TABLE_WAYS && nr % stride < sets; i++)
			total += set.way[i].row.packets;
	return total;
}

static void expect(const struct object *o, const char *what, __u64 got, __u64 want)
{
	if (got != want)
		die("%s %s: %s is %llu instead of %llu: wrong count",
		    o->hook, o->meters, what, got, want);
}

void verify(const struct object *o)
{
	size_t slots = PKTSIZE_SLOTS;

	if (strcmp(o->build, "nicprobe"))
		return;		/* other builds may have other maps */
	if (o->on >> METER_pktsize & 1) {
		expect(o, "pktsize", sum(o->obj, "pktsize", 1, slots), o->buffers);
		expect(o, "bytes", sum(o->obj, "pktsize", 0, 1), o->bytes);
	}
	if (o->on >> METER_ecn & 1) {
		expect(o, "ECT(0)", sum(o->obj, "ecn", ECN_ECT0, 1), o->packets - o->marked);
		expect(o, "CE", sum(o->obj, "ecn", ECN_CE, 1), o->marked);
	}
	if (strcmp(o->hook, "xdp"))
		return;
	if (o->on >> METER_rxcpu & 1)
		expect(o, "rxcpu", sum(o->obj, "rxcpu", 0, 1), o->packets);
	if (o->on >> METER_ecn_source & 1)
		expect(o, "sources", sources(o->obj), o->marked);
}
