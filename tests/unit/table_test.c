/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Maps as tables: copied or mapped, in parts, lanes and CPUs summed, idle rows without memory;
 * hashes; differences.
 */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/attach/pinned.h"
#include "lib/proc/cpus.h"
#include "lib/read/rows.h"
#include "check.h"

#define ROWS	301		/* of 2 KB per CPU: more than one batch */

#define ENTRIES	301		/* of a hash: several calls */

#define MANY	20000

#define CPUS	5		/* of a METER_MAP(): as many as it was made for */

static int cpus;

/* Word i of CPU c: base + i + c. */
static void put(int fd, __u32 key, uint64_t base)
{
	unsigned words = meter_txlat.row_size / 8, stride = meter_stride(&meter_txlat, ROWS);
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);
	int err = bpf_obj_get_info_by_fd(fd, &info, &len);
	bool whole = info.type == BPF_MAP_TYPE_ARRAY;
	uint64_t *all = calloc(cpus * (whole ? stride : 1), meter_txlat.row_size);

	if (err || (whole && bpf_map_lookup_elem(fd, &(__u32){ 0 }, all)))
		exit(2);
	for (int cpu = 0; cpu < cpus; cpu++)
		for (unsigned i = 0; i < words; i++)
			all[((whole ? cpu * stride : 0) + (whole ? key : (unsigned)cpu)) * words +
			    i] = base + i + cpu;
	if (bpf_map_update_elem(fd, whole ? &(__u32){ 0 } : &key, all, 0))
		exit(2);
	free(all);
}

/* All its words, summed over CPUs, match this many rows with this total. */
static void row_is(const struct table *t, unsigned row, unsigned rows, uint64_t base,
		   const char *name)
{
	uint64_t wrong = 0, each = (uint64_t)cpus * (cpus - 1) / 2;

	for (unsigned i = 0; i < t->words; i++)
		wrong += row_words(t, row, 0)[i] != cpus * base + rows * (cpus * i + each);
	same(name, wrong, 0);
}

/* The descriptor by which it is read, which may be another one than that by which it is written. */
static int reads;

static struct snapshot taken(void)
{
	struct snapshot s = { .meta = { .rows = ROWS, .cpus = cpus } };
	struct pinned_map map = map_opened(reads);

	same("it is read",
	     -table_read(&meter_txlat, &s.meta, &s.tables[METER_txlat], &map, NULL), 0);
	return s;
}

static void check_rows(const struct table *t)
{
	unsigned busy = 0;

	for (unsigned row = 0; row < t->rows; row++)
		busy += !cell_idle(t, row, 0);
	same("a row each", t->rows, ROWS);
	same("four are not idle", busy, 4);
	same("and the idle ones share one", t->held, 5);
	row_is(t, 0, 1, 1000, "the first row");
	row_is(t, 31, 1, 2000, "one in the first part");
	row_is(t, 32, 2, 7000, "two lanes are summed");
	row_is(t, ROWS - 1, 1, 5000, "the last row, of the other lane");
	same("an idle row has zeros", row_words(t, 33, 0)[t->words - 1], 0);
}

static unsigned level_words(const struct table *t, unsigned row, uint64_t want)
{
	unsigned wrong = 0;

	for_each_metric(k, &meter_txlat)
		for (unsigned i = 0; k->kind != KIND_LEVEL && i < k->words; i++)
			wrong += cell(t, row, 0, k)[i] != want;
	return wrong;
}

/* A window that was made beside, and the one that took the place of a moment. */
static void check_same(const struct snapshot *a, const struct snapshot *b)
{
	const struct table *x = &a->tables[METER_txlat], *y = &b->tables[METER_txlat];
	unsigned wrong = x->rows != y->rows || a->seconds != b->seconds || !a->interval;

	for (unsigned row = 0; row < y->rows; row++)
		wrong += cell_idle(x, row, 0) != cell_idle(y, row, 0) ||
			 memcmp(row_words(x, row, 0), row_words(y, row, 0), y->words * 8);
	same("both ways are the same", wrong, 0);
}

static void check_difference(int fd)
{
	struct snapshot before = taken(), now, kept, since;
	struct table *t;

	put(fd, 31, 2007);	/* each word grows by 7, on each CPU */
	put(fd, 200, 0);	/* the first time; word 0 of CPU 0 stays 0 */
	now = taken();
	same("it is copied", -snapshot_copy(&kept, &now), 0);
	check_rows(&before.tables[METER_txlat]);
	before.boot_ns = 1000000000, now.boot_ns = 2000000000;
	before.tables[METER_txlat].when = 900000000, now.tables[METER_txlat].when = 1400000000;
	same("what grew since, beside it", -snapshot_since(&since, &now, &before), 0);
	row_is(&now.tables[METER_txlat], 31, 1, 2007, "it stays what it is");
	snapshot_diff(&now, &before);
	check_same(&since, &now);
	same("a second passed", llround(now.seconds * 1e3), 1000);
	same("half a second for what was read early",
	     llround(1e3 * table_seconds(&now, &meter_txlat)), 500);
	same("all of it where nobody knows", llround(1e3 * table_seconds(&now, &meter_ecn)), 1000);
	t = &now.tables[METER_txlat];
	same("what it grew", level_words(t, 31, 7 * cpus), 0);
	same("what has not grown", level_words(t, 0, 0), 0);
	row_is(t, 200, 1, 0, "what was idle before");
	same("what is idle still", cell_idle(t, 33, 0), 1);
	row_is(&kept.tables[METER_txlat], 31, 1, 2007, "a copy keeps what it was");
	snapshot_free(&before);
	snapshot_free(&now);
	snapshot_free(&kept);
	snapshot_free(&since);
}

static void check_map(int fd, int of_cpus, int by)
{
	cpus = of_cpus;
	reads = by;
	put(fd, 0, 1000);
	put(fd, 31, 2000);
	put(fd, 32, 3000);
	put(fd, ROWS + 32, 4000);
	put(fd, 2 * ROWS - 1, 5000);
	check_difference(fd);
}

/* The same map, for reading only, as a member of the group has it; -1: it cannot be had. */
static int reader(int fd)
{
	LIBBPF_OPTS(bpf_get_fd_by_id_opts, opts, .open_flags = BPF_F_RDONLY);
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &len) ? -1 :
	       bpf_map_get_fd_by_id_opts(info.id, &opts);
}

static int made(enum bpf_map_type type, unsigned rows)
{
	return bpf_map_create(type, "table_test", 4, meter_txlat.row_size, rows, NULL);
}

/* A METER_MAP() of so many rows. */
static int whole(unsigned rows)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);

	return bpf_map_create(BPF_MAP_TYPE_ARRAY, "table_test", 4, rows * meter_txlat.row_size, 1,
			      &opts);
}

/* Entry `i` of a hash: its key, which sorts as `i` does, and word `w` of a CPU. */
static void key_put(unsigned char *key, size_t size, unsigned i)
{
	memset(key, 0, size);
	key[size - 2] = i >> 8;
	key[size - 1] = i;
}

static uint64_t word_of(unsigned i, unsigned w, unsigned cpu)
{
	return 1000 * i + w + cpu;
}

/* Row `row` of a table by key is entry `row`, the words of so many CPUs summed. */
static bool entry_is(const struct table *t, size_t key_size, unsigned row, unsigned of_cpus)
{
	unsigned char key[64];
	unsigned wrong;

	key_put(key, key_size, row);
	wrong = !!memcmp(key, t->keys + row * key_size, key_size);
	for (unsigned w = 0; w < t->words; w++) {
		uint64_t sum = 0;

		for (unsigned cpu = 0; cpu < of_cpus; cpu++)
			sum += word_of(row, w, cpu);
		wrong += row_words(t, row, 0)[w] != sum;
	}
	return !wrong;
}

/* More rows than one call takes, in whatever order a hash has them: each is there, once. */
static void check_hash(const struct meter *m, enum bpf_map_type type, unsigned of_cpus)
{
	int fd = bpf_map_create(type, "table_test", m->key.size, m->row_size, 2 * ENTRIES, NULL);
	unsigned words = m->row_size / 8, good = 0;
	uint64_t *values = calloc(of_cpus, m->row_size);
	struct meta meta = { .rows = ROWS, .cpus = of_cpus };
	struct snapshot s = {};
	struct table *t = &s.tables[meter_id(m)];
	struct pinned_map map = map_opened(fd);
	unsigned char key[64];

	same("a hash is made", fd >= 0, 1);
	same("it has no rows", -table_read(m, &meta, t, &map, NULL), 0);
	same("which is a table", t->cells && t->keys && !t->rows, 1);
	snapshot_free(&s);
	for (unsigned i = 0; i < ENTRIES; i++) {
		key_put(key, m->key.size, i);
		for (unsigned n = 0; n < of_cpus * words; n++)
			values[n] = word_of(i, n % words, n / words);
		if (bpf_map_update_elem(fd, key, values, 0))
			exit(2);
	}
	same("it is read", -table_read(m, &meta, t, &map, NULL), 0);
	same("all of it", t->rows, ENTRIES);
	table_sort(m, t, table_by_key);
	for (unsigned i = 0; i < t->rows; i++)
		good += entry_is(t, m->key.size, i, of_cpus);
	same("each entry once, with its words", good, ENTRIES);
	snapshot_free(&s);
	free(values);
	close(fd);
}

/* CPUs that count in rows of some words must not share a cache line: each count would wait. */
static void check_strides(void)
{
	unsigned shared = 0, few = 0;

	for (int id = 0; id < NR_METERS; id++)
		for (unsigned rows = 2; rows < 66 && !(meters[id]->by & BY_KEY); rows++) {
			unsigned stride = meter_stride(meters[id], rows);

			few += stride < meter_rows(meters[id], rows) * meter_lanes(meters[id]);
			shared += meters[id]->row_size < 512 && stride * meters[id]->row_size % 64;
		}
	same("each CPU has all rows", few, 0);
	check(cpus_end() >= (unsigned)libbpf_num_possible_cpus() &&
	      cpus_end() > (unsigned)sched_getcpu(), "and no CPU is left out", "one is");
	same("no two CPUs write to a line", shared, 0);
}

int main(void)
{
	int rows = ROWS * meter_lanes(&meter_txlat), mapped = meter_stride(&meter_txlat, ROWS);
	int fd = made(BPF_MAP_TYPE_PERCPU_ARRAY, rows), one;
	struct pinned_map map;

	if (fd < 0) {
		printf("skip table: no map can be made\n");
		return 0;
	}
	check_strides();
	check_hash(&meter_skblife, BPF_MAP_TYPE_HASH, 1);
	check_hash(&meter_qdisc, BPF_MAP_TYPE_PERCPU_HASH, libbpf_num_possible_cpus());
	check_map(fd, libbpf_num_possible_cpus(), fd);
	close(fd);
	fd = whole(mapped * CPUS);
	check_map(fd, CPUS, fd);
	close(fd);
	fd = whole(mapped * CPUS);
	one = reader(fd);
	same("it can be read only", one >= 0, 1);
	check_map(fd, CPUS, one);
	close(one);
	close(fd);
	fd = whole(MANY);
	same("one of 41 MB can be made, as for 64 CPUs", fd >= 0, 1);
	close(fd);
	fd = whole(mapped * CPUS + 1);
	map = map_opened(fd);
	same("rows that no CPU has", table_read(&meter_txlat, &(struct meta){ .rows = ROWS },
						&(struct table){}, &map, NULL), -EPROTO);
	close(fd);
	return failed > 0;
}
