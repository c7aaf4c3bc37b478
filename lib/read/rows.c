/* SPDX-License-Identifier: GPL-2.0 */
/* One meter's map as a table: CPUs summed, no room taken by rows where nothing happened. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/attach/held.h"
#include "lib/attach/pinned.h"
#include "lib/read/keyed.h"
#include "lib/read/reach.h"
#include "lib/read/rows.h"
#include "lib/read/sets.h"
#include "lib/read/snapshot.h"
#include "lib/util/clock.h"
#include "lib/util/error.h"

#define AHEAD	8		/* rows that are fetched before they are looked at */
#define WHOLE	(512 << 10)	/* bytes of a map that is mapped at once, and not in parts */

static bool nothing(const uint64_t *words, unsigned nr)
{
	unsigned i = 0;

	for (; i + 4 <= nr; i += 4)
		if (words[i] | words[i + 1] | words[i + 2] | words[i + 3])
			return false;
	for (; i < nr; i++)
		if (words[i])
			return false;
	return true;
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

/* Adds what one CPU has of a row, or lays it beside the others. `words`: those that it has. */
static void cpu_add(struct table *t, unsigned row, unsigned cpu, const uint64_t *from,
		     unsigned words)
{
	unsigned sums = t->moments && t->moments < words ? t->moments : words;
	uint64_t *to;

	if (t->at && !t->at[row] && t->cpus == 1 && words == t->words) {
		t->at[row] = t->held++;
		memcpy(row_words(t, row, 0), from, words * sizeof(*from));
		return;
	}
	to = row_open(t, row) + (size_t)(cpu % t->cpus) * t->words;
	for (unsigned i = 0; i < sums; i++)
		to[i] += from[i];
	for (unsigned i = sums; i < words; i++)
		to[i] = moments_later(to[i], from[i]);
}

void cpu_take(struct table *t, unsigned row, unsigned cpu, const uint64_t *from, unsigned words)
{
	if (!nothing(from, words))
		cpu_add(t, row, cpu, from, words);
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

void *values_room(size_t size)
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

/* The map of a meter that is not keyed. */
struct source {
	int fd;
	unsigned cpus;
	unsigned stride;	/* a METER_MAP(): rows of each CPU; 0: it is a PERCPU_ARRAY */
	const char *whole;	/* then: it is mapped already, or copied… */
	size_t size;
	enum { OPEN, MAPPED, COPIED, HELD } is;		/* …and how it is to be left */
};

/* Copies `nr` entries, which are rows from `from` on, with the words of all CPUs. */
static int entries_take(const struct meter *m, struct table *t, const struct source *s,
			unsigned from, unsigned nr)
{
	size_t size = (size_t)s->cpus * t->words * 8;
	unsigned room = VALUES_AT_ONCE / size ?: 1;
	uint64_t *values = values_room(room * size > VALUES_AT_ONCE ? size : VALUES_AT_ONCE);
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	__u32 *keys = malloc(room * sizeof(*keys));
	int err = values && keys ? 0 : -ENOMEM;

	for (unsigned done = 0; !err && done < nr; done += room) {
		unsigned part = nr - done < room ? nr - done : room;

		err = rows_read(s->fd, from + done, part, keys, (char *)values, size);
		for (unsigned i = 0; !err && i < part; i++) {
			uint64_t *words = values + i * size / 8;

			for (unsigned cpu = 0; m->row_close && cpu < s->cpus; cpu++)
				m->row_close(words + (size_t)cpu * t->words, now);
			for (unsigned cpu = 0; cpu < s->cpus; cpu++)
				cpu_take(t, (from + done + i) % t->rows, cpu,
					 words + (size_t)cpu * t->words, t->words);
		}
	}
	free(keys);
	return err;
}

/* Bytes of the map, in memory. */
struct window {
	const void *at;		/* NULL and errno: they cannot be had */
	void *mapped;		/* to be unmapped */
	size_t size;
};

/* Each page that is mapped takes the kernel 100 ns: of a large map only those that are wanted. */
static struct window window_open(const struct source *s, size_t from, size_t size)
{
	size_t page = sysconf(_SC_PAGESIZE), before = from % page;
	void *mapped;

	if (s->whole)
		return (struct window){ .at = s->whole + from };
	mapped = mmap(NULL, before + size, PROT_READ, MAP_SHARED, s->fd, from - before);
	if (mapped == MAP_FAILED)
		return (struct window){};
	return (struct window){ (char *)mapped + before, mapped, before + size };
}

static void window_close(const struct window *w)
{
	if (w->mapped)
		munmap(w->mapped, w->size);
}

#ifdef __SANITIZE_ADDRESS__
/* Tests with the sanitizers look at all words, and end where a meter's `lead` is not true. */
static void lead_check(const struct meter *m, const uint64_t *words, unsigned lead,
		       uint64_t *closed, uint64_t now)
{
	unsigned nr = m->row_size / 8;

	memcpy(closed, words, m->row_size);
	if (m->row_close)
		m->row_close(closed, now);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);	/* what was counted just now is seen then */
	if (!nothing(closed, nr) && nothing(words, lead))
		abort();
}
#else
#define lead_check(m, words, lead, closed, now)
#endif

/* Rows of one CPU, where they are. Most are of queues that it never serves: they are looked at. */
static int mapped_take(const struct meter *m, struct table *t, const struct source *s, unsigned cpu,
		       unsigned from, unsigned end)
{
	size_t row_size = t->words * sizeof(uint64_t);
	unsigned lead = m->lead ?: t->words;
	uint64_t now = clock_ns(CLOCK_MONOTONIC), *closed = values_room(row_size);
	struct window w = window_open(s, ((size_t)cpu * s->stride + from) * row_size,
				      (end - from) * row_size);
	const uint64_t *at = w.at;

	if (!closed || !at)
		return closed ? -errno : -ENOMEM;
	for (unsigned row = from; row < end; row++, at += t->words) {
		const uint64_t *words = at;

		/* it is far: the walk through the page tables and the memory takes most time */
		__builtin_prefetch(at + AHEAD * t->words);
		if (nothing(words, lead)) {
			lead_check(m, words, lead, closed, now);
			continue;
		}
		if (m->row_close) {
			m->row_close(memcpy(closed, words, row_size), now);
			words = closed;
		}
		cpu_add(t, row % t->rows, cpu, words, t->words);
	}
	window_close(&w);
	return 0;
}

/* These rows of the map, those of all lanes counted. */
static int rows_take(const struct meter *m, struct table *t, const struct source *s, unsigned from,
		     unsigned end)
{
	int err = 0;

	if (!s->stride)
		return entries_take(m, t, s, from, end - from);
	for (unsigned cpu = 0; !err && cpu < s->cpus; cpu++)
		err = mapped_take(m, t, s, cpu, from, end);
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
static int queues_take(const struct meter *m, const struct meta *meta, struct table *t,
		       const struct source *s, __u32 map_id)
{
	unsigned all = t->rows * meter_lanes(m), rows = reach_rows(meta, m, map_id);
	int err = 0;

	if (rows == meta->rows) {
		err = rows_take(m, t, s, 0, all);
		if (!err)
			reach_read(meta, m, map_id, queues_used(t, rows));
		return err;
	}
	/* the last row of a point, or lane, lies before the first of the next one */
	for (unsigned at = 0; !err && at < all; at += meta->rows)
		err = rows_take(m, t, s, at ? at - 1 : 0, at + rows);
	return err ?: rows_take(m, t, s, all - 1, all);
}

/* Is it a METER_MAP()? */
static bool is_mapped(const struct bpf_map_info *info)
{
	return info->type == BPF_MAP_TYPE_ARRAY && info->map_flags & BPF_F_MMAPABLE;
}

/* The whole map, for who may not map it. NULL and errno: it cannot be had. */
static const char *whole_copy(int fd, size_t size)
{
	char *copy = malloc(size);

	if (copy && !bpf_map_lookup_elem(fd, &(__u32){ 0 }, copy))
		return copy;
	free(copy);
	return NULL;
}

/* 0 or -errno. */
static int source_open(struct source *s, const struct meter *m, const struct meta *meta,
		       const struct pinned_map *map)
{
	const struct bpf_map_info *info = &map->info;
	void *whole;

	*s = (struct source){ .fd = map->fd, .cpus = meta->cpus };
	if (!is_mapped(info))
		return 0;
	s->stride = meter_stride(m, meta->rows);
	s->size = info->value_size;
	s->cpus = s->size / m->row_size / s->stride;
	if (!map->mappable) {
		s->is = COPIED;
		s->whole = whole_copy(map->fd, s->size);
		return s->whole ? 0 : -errno;
	}
	s->is = HELD;
	s->whole = held_map(map->fd, info->id, s->size);
	if (s->whole)
		return 0;
	s->is = OPEN;
	if (s->size > WHOLE)
		return 0;
	whole = mmap(NULL, s->size, PROT_READ, MAP_SHARED, map->fd, 0);
	if (whole == MAP_FAILED)
		return -errno;
	s->is = MAPPED;
	s->whole = whole;
	return 0;
}

static void source_close(const struct source *s)
{
	if (s->is == MAPPED)
		munmap((void *)s->whole, s->size);
	if (s->is == COPIED)
		free((void *)s->whole);
}

static int array_read(const struct meter *m, const struct meta *meta, struct table *t,
		      const struct pinned_map *map)
{
	size_t row_size = (size_t)t->cpus * t->words * 8;
	struct source s;
	int err;

	/* most of it is never touched, and is no memory then */
	t->cells = malloc((t->rows + 1) * row_size);
	t->at = calloc(t->rows, sizeof(*t->at));
	if (!t->cells || !t->at)
		return -ENOMEM;
	memset(t->cells, 0, row_size);
	t->held = 1;
	err = source_open(&s, m, meta, map);
	if (err)
		return err;
	err = m->by & BY_QUEUE ? queues_take(m, meta, t, &s, map->info.id) :
	      rows_take(m, t, &s, 0, t->rows * meter_lanes(m));
	source_close(&s);
	return err;
}

/* The map of a meter that settles may have the first words of a row only. */
static bool shape_fits(const struct meter *m, const struct meta *meta, const struct table *t,
		       const struct bpf_map_info *i)
{
	if (m->key.table)
		return is_mapped(i) && sets_fit(m, meta, i);
	if (is_mapped(i))
		return i->max_entries == 1 && i->value_size &&
		       i->value_size % (meter_stride(m, meta->rows) * m->row_size) == 0;
	return (m->fixup ? i->value_size <= m->row_size : i->value_size == m->row_size) &&
	       i->max_entries == t->rows * meter_lanes(m);
}

int table_read(const struct meter *m, const struct meta *meta, struct table *t,
	       const struct pinned_map *map, struct error *e)
{
	const struct bpf_map_info *info = &map->info;

	t->words = m->row_size / 8;
	t->moments = m->moments;
	t->cpus = m->by & BY_CPU ? meta->cpus : 1;
	t->rows = m->by & BY_KEY ? info->max_entries : meter_rows(m, meta->rows);
	if (!shape_fits(m, meta, t, info))
		return error_set(e, -EPROTO, NULL,
				 "the map \"%s\" is not of the shape this version made", m->name);
	if (m->key.table)
		return sets_read(m, meta, t, map);
	if (info->type == BPF_MAP_TYPE_HASH)	/* not per CPU: the key tells them apart */
		return keyed_read(m, t, map->fd, 1, t->words);
	return m->by & BY_KEY ? keyed_read(m, t, map->fd, meta->cpus, info->value_size / 8) :
		array_read(m, meta, t, map);
}
