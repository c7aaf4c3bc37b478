/* SPDX-License-Identifier: GPL-2.0 */
/* Loads the packet programs, each with one selection of meters, and checks their counts. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/attach/row_maps.h"
#include "lib/attach/sizes.h"
#include "lib/attach/tell.h"
#include "lib/core/hook.h"
#include "lib/core/meter.h"
#include "lib/util/slurp.h"
#include "xdp/ecn.h"
#include "xdp/ecn_source.h"
#include "xdp/flow.h"
#include "xdp/pktsize.h"
#include "object.h"
#include "empty.skel.h"

#define QUEUES		4
#define MOST_BYTES	(1 << 26)	/* of another build's object */

#define M(name) | 1ull << METER_##name
static const __u64 all_meters = 0 PACKET_METERS(M);
#undef M

struct object objects[MAX_OBJECTS];
unsigned int nr_objects;

static const struct config config = {
	.ifindex = 1,
	.rows = QUEUES + 1,
	.near = QUEUES,
	.rx_queues = QUEUES,
	.rx_queue = RX_QUEUE_RAW,	/* tc: test_run leaves the queue 0 */
	.l2 = 14,
	.flight_shift = 26,
	.flow_sample = FLOW_SAMPLE,
	.seed = { 0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f },
};

static void map_prepare(struct bpf_map *map, const struct row_maps *rows, const struct config *c)
{
	const char *name = bpf_map__name(map);
	const struct meter *m = meter_find(name);
	int err = 0;

	if (!strcmp(name, ".rodata.config"))
		err = bpf_map__set_initial_value(map, c, sizeof(*c));
	else if (row_map_is(map))
		err = row_map_give(rows, c, map);
	else if (m && m->key.table)
		err = bpf_map__set_max_entries(map, c->end[meter_id(m)]);
	if (err)
		die("cannot configure map %s: %s", name, strerror(-err));
}

/* An object that is to be opened. */
struct bytes {
	const void *at;
	size_t size;
};

/* `of`: whose programs they are; NULL: they need no configuration. */
static void add_object(const char *build, const char *hook, const char *meters, __u64 on,
		       const struct hook *of, struct bytes elf, const char *program)
{
	struct config c = config;
	struct object *o = &objects[nr_objects++];
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);
	struct bpf_program *prog;
	struct row_maps rows;
	struct bpf_map *map;
	void *told;

	*o = (struct object){ .hook = hook, .meters = meters, .on = on };
	snprintf(o->build, sizeof(o->build), "%s", build);
	c.on = on;
	if (of && of->configure)
		of->configure(&c);
	config_complete(&c);
	if (row_maps_open(&rows, &c, tell_rows_used(elf.at, elf.size), NULL))
		die("cannot make the maps of %s: %s", build, strerror(errno));
	told = tell_object(elf.at, elf.size, &c, rows.fd);
	o->obj = told ? bpf_object__open_mem(told, elf.size, NULL) : NULL;
	if (!o->obj)
		die("cannot open the programs of %s: %s", build, strerror(errno));
	free(told);
	bpf_object__for_each_map(map, o->obj)
		map_prepare(map, &rows, &c);
	bpf_object__for_each_program(prog, o->obj)
		bpf_program__set_autoload(prog, !strcmp(bpf_program__name(prog), program));
	if (bpf_object__load(o->obj))
		die("cannot load the programs of %s: %s", build, strerror(errno));
	row_maps_leave(&rows, NULL);
	o->prog = bpf_program__fd(bpf_object__find_program_by_name(o->obj, program));
	bpf_obj_get_info_by_fd(o->prog, &info, &len);
	o->jited = info.jited_prog_len;
}

void add_empty(const char *hook, const char *program)
{
	struct bytes elf;

	elf.at = empty_bpf__elf_bytes(&elf.size);
	add_object("empty", hook, "empty", 0, NULL, elf, program);
}

/* Another build's object. */
static struct bytes file_read(const char *path)
{
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1, err = errno;
	struct bytes elf = {};

	elf.at = fd < 0 ? NULL : slurp(fd, MOST_BYTES, &elf.size, &err);
	if (!elf.at)
		die("cannot read %s: %s", path, strerror(err));
	close(fd);
	return elf;
}

void add_tap(const char *build, const char *hook, const struct hook *tap, const char *program,
	     const char *file, const char *only)
{
	struct bytes elf = file ? file_read(file) : (struct bytes){};

	if (!file)
		elf.at = tap->elf(&elf.size);
	for (int id = -1; id <= NR_METERS; id++) {
		__u64 on = id < 0 ? 0 : id == NR_METERS ? all_meters : 1ull << id;
		const char *name = id < 0 ? "none" : id == NR_METERS ? "all" : meters[id]->name;

		if (!(on & ~all_meters) && (!only || !strcmp(only, name)))
			add_object(build, hook, name, on, tap, elf, program);
	}
}

/* The sum of some words over all rows of a meter. */
static __u64 sum(struct bpf_object *obj, const struct meter *m, unsigned int from,
		 unsigned int words)
{
	struct bpf_map *map = bpf_object__find_map_by_name(obj, m->name);
	unsigned rows = bpf_map__value_size(map) / m->row_size;
	__u64 *row = malloc(bpf_map__value_size(map)), total = 0;

	if (!row || bpf_map_lookup_elem(bpf_map__fd(map), &(__u32){ 0 }, row))
		die("cannot read %s: %s", m->name, strerror(errno));
	for (unsigned i = 0; i < rows; i++)
		for (unsigned w = from; w < from + words; w++)
			total += row[i * m->row_size / 8 + w];
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
		expect(o, "pktsize", sum(o->obj, &meter_pktsize, 1, slots), o->buffers);
		expect(o, "bytes", sum(o->obj, &meter_pktsize, 0, 1), o->bytes);
	}
	if (o->on >> METER_ecn & 1) {
		expect(o, "ECT(0)", sum(o->obj, &meter_ecn, ECN_ECT0, 1), o->packets - o->marked);
		expect(o, "CE", sum(o->obj, &meter_ecn, ECN_CE, 1), o->marked);
	}
	if (strcmp(o->hook, "xdp"))
		return;
	if (o->on >> METER_rxcpu & 1)
		expect(o, "rxcpu", sum(o->obj, &meter_rxcpu, 0, 1), o->packets);
	if (o->on >> METER_ecn_source & 1)
		expect(o, "sources", sources(o->obj), o->marked);
}
