/* SPDX-License-Identifier: GPL-2.0 */
/* One meter's map as a table: CPUs summed, no room taken by rows where nothing happened. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>

#include "lib/read/reach.h"
#include "lib/read/rows.h"
#include "lib/read/snapshot.h"
#include "lib/util/clock.h"
#include "lib/util/error.h"

#define AT_ONCE	(128 << 10)	/* bytes of a map a call: they stay in the cache of a CPU */

static bool nothing(const uint64_t *words, unsigned nr)
{
	return !*words && !memcmp(words, words + 1, (nr - 1) * sizeof(*words));
}

bool cell_idle(const struct table *t, unsigned row, unsigned cpu)
{
	return (t->at && !t->at[row]) || nothing(row_words(t, row, cpu), t->words);
}

/* The words of a row, for the first time: with zeros in them. */
static uint64_t *row_open(struct table *t, unsigned row)
{
	size_t words = (size_t)t->cpus * t->words;

	if (!t->at)
		return t->cells + row * words;
	if (!t->at[row]) {
		t->at[row] = t->held++;
		memset(t->cells + t->at[row] * words, 0, words * sizeof(*t->cells));
	}
	return t->cells + t->at[row] * words;
}

uint64_t moments_later(uint64_t a, uint64_t b)
{
	uint32_t high = a >> 32 > b >> 32 ? a >> 32 : b >> 32;
	uint32_t low = (uint32_t)a > (uint32_t)b ? a : b;

	return (uint64_t)high << 32 | low;
}

/* Adds the CPUs of one row up, or lays them side by side. `words`: that each CPU has of it. */
static void row_take(struct table *t, unsigned row, const uint64_t *percpu, unsigned cpus,
		     unsigned words)
{
	for (unsigned cpu = 0; cpu < cpus; cpu++, percpu += words) {
		uint64_t *to;

		if (nothing(percpu, words))
			continue;
		to = row_open(t, row) + (size_t)(cpu % t->cpus) * t->words;
		for (unsigned i = 0; i < words; i++)
			to[i] = t->moments && i >= t->moments ? moments_later(to[i], percpu[i]) :
								to[i] + percpu[i];
	}
}

/* Rows of the map from `from` on, at most `nr`, in one call; what cannot be done so, one by one. */
static int rows_read(int fd, __u32 from, unsigned nr, __u32 *keys, char *values, size_t row_size)
{
	__u32 last = from - 1, n = nr;

	if (bpf_map_lookup_batch(fd, from ? &last : NULL, &last, keys, values, &n, NULL) &&
	    errno != ENOENT)
		n = 0;
	for (; n < nr; n++)
		if (bpf_map_lookup_elem(fd, &(__u32){ from + n }, values + n * row_size))
			return -errno;
	return 0;
}

/* Room that all meters use, one after the other: it is in memory, and in the cache, already. */
static void *values_room(size_t size)
{
	static void *values;
	static size_t room;

	if (size > room) {
		free(values);
		values = malloc(size);
		room = values ? size : 0;
	}
	return values;
}

/* These rows of the map, those of all lanes counted. */
static int rows_take(const struct meter *m, struct table *t, int fd, unsigned cpus, unsigned from,
		     unsigned end)
{
	size_t row_size = (size_t)cpus * t->words * 8;
	unsigned room = AT_ONCE / row_size ?: 1;
	uint64_t *values = values_room(room * row_size > AT_ONCE ? row_size : AT_ONCE);
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	__u32 *keys = malloc(room * sizeof(*keys));
	int err = values && keys ? 0 : -ENOMEM;

	for (; !err && from < end; from += room) {
		unsigned nr = end - from < room ? end - from : room;

		err = rows_read(fd, from, nr, keys, (char *)values, row_size);
		for (unsigned i = 0; !err && i < nr; i++) {
			uint64_t *words = values + i * row_size / 8;

			for (unsigned cpu = 0; m->row_close && cpu < cpus; cpu++)
				m->row_close(words + (size_t)cpu * t->words, now);
			row_take(t, (from + i) % t->rows, words, cpus, t->words);
		}
	}
	free(keys);
	return err;
}

/* Behind the last row of a queue in which something happened, at any point. */
static unsigned queues_used(const struct table *t, unsigned queues)
{
	unsigned used = 0;

	for (unsigned row = 0; row < t->rows; row++)
		if (t->at[row] && row % queues + 1 < queues && row % queues >= used)
			used = row % queues + 1;
	return used;
}

/* Of each point the rows of queues that can have grown, and that of packets of no queue. */
static int queues_take(const struct meter *m, const struct meta *meta, struct table *t, int fd,
		       __u32 map_id)
{
	unsigned all = t->rows * meter_lanes(m), rows = reach_rows(meta, m, map_id);
	int err = 0;

	if (rows == meta->rows) {
		err = rows_take(m, t, fd, meta->cpus, 0, all);
		if (!err)
			reach_read(meta, m, map_id, queues_used(t, rows));
		return err;
	}
	for (unsigned from = 0; !err && from < all; from += meta->rows)
		err = rows_take(m, t, fd, meta->cpus, from, from + rows) ?:
		      rows_take(m, t, fd, meta->cpus, from + meta->rows - 1, from + meta->rows);
	return err;
}

static int array_read(const struct meter *m, const struct meta *meta, struct table *t, int fd,
		      __u32 map_id)
{
	size_t row_size = (size_t)t->cpus * t->words * 8;

	/* most of it is never touched, and is no memory then */
	t->cells = malloc((t->rows + 1) * row_size);
	t->at = calloc(t->rows, sizeof(*t->at));
	if (!t->cells || !t->at)
		return -ENOMEM;
	memset(t->cells, 0, row_size);
	t->held = 1;
	return m->by & BY_QUEUE ? queues_take(m, meta, t, fd, map_id) :
	       rows_take(m, t, fd, meta->cpus, 0, t->rows * meter_lanes(m));
}

static int hash_read(const struct meter *m, struct table *t, int fd, unsigned cpus, unsigned words)
{
	size_t row_size = (size_t)cpus * words * 8;
	uint64_t *values = malloc(t->rows * row_size);
	__u32 n = t->rows, next;
	int err = 0;

	t->keys = malloc((size_t)t->rows * m->key.size);
	if (!values || !t->keys)
		err = -ENOMEM;
	else if (bpf_map_lookup_batch(fd, NULL, &next, t->keys, values, &n, NULL) &&
		 errno != ENOENT)
		err = -errno;
	t->rows = err ? 0 : n;
	if (!err && cpus == 1 && t->cpus == 1 && words == t->words) {	/* they are the cells */
		t->cells = realloc(values, (t->rows ?: 1) * row_size) ?: values;
		return 0;
	}
	t->cells = calloc(t->rows ?: 1, (size_t)t->cpus * t->words * 8);
	if (!t->cells)
		err = err ?: -ENOMEM;
	for (unsigned row = 0; !err && row < t->rows; row++)
		row_take(t, row, values + row * row_size / 8, cpus, words);
	free(values);
	return err;
}

/* The map of a meter that settles may have the first words of a row only. */
static bool shape_fits(const struct meter *m, const struct table *t, const struct bpf_map_info *i)
{
	return (m->fixup ? i->value_size <= m->row_size : i->value_size == m->row_size) &&
	       i->max_entries == t->rows * meter_lanes(m);
}

int table_read(const struct meter *m, const struct meta *meta, struct table *t, int fd,
	       struct error *e)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return -errno;
	t->words = m->row_size / 8;
	t->moments = m->moments;
	t->cpus = m->by & BY_CPU ? meta->cpus : 1;
	t->rows = m->by & BY_KEY ? info.max_entries : meter_rows(m, meta->rows);
	if (!shape_fits(m, t, &info))
		return error_set(e, -EPROTO, NULL,
				 "the map \"%s\" is not of the shape this version "
				 "made", m->name);
	if (info.type == BPF_MAP_TYPE_HASH)	/* not per CPU: the key tells them apart */
		return hash_read(m, t, fd, 1, t->words);
	return m->by & BY_KEY ? hash_read(m, t, fd, meta->cpus, info.value_size / 8) :
		array_read(m, meta, t, fd, info.id);
}
