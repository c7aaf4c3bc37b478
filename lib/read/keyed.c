/* SPDX-License-Identifier: GPL-2.0 */
/* The hash of a keyed meter as a table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "lib/read/keyed.h"
#include "lib/read/rows.h"

#define LEAST	8	/* entries a call: a bucket has fewer, as a rule */

/* A hash that is read part by part: most have few entries, and room for many. */
struct hash {
	int fd;
	unsigned cpus, words;	/* of an entry */
	unsigned part;		/* entries a call */
	size_t room;		/* rows that the table has room for */
	size_t guess;		/* that it will have */
	__u32 next;		/* bucket */
	bool begun, ended;
};

/* The entries of the next buckets: their number, or -errno. */
static int part_read(struct hash *h, void *keys, void *values)
{
	__u32 n = h->part;
	int err = bpf_map_lookup_batch(h->fd, h->begun ? &h->next : NULL, &h->next, keys, values,
				       &n, NULL) ? -errno : 0;

	h->begun = true;
	h->ended = err == -ENOENT;
	return err && !h->ended ? err : (int)n;
}

bool table_room(const struct meter *m, struct table *t, size_t rows)
{
	void *keys = realloc(t->keys, rows * m->key.size), *cells;

	if (!keys)
		return false;
	t->keys = keys;
	cells = realloc(t->cells, rows * t->cpus * t->words * sizeof(*t->cells));
	if (!cells)
		return false;
	t->cells = cells;
	return true;
}

/* Room for another part. */
static bool table_grow(const struct meter *m, struct table *t, struct hash *h)
{
	size_t rows = (size_t)t->rows + h->part;

	if (rows <= h->room)
		return true;
	if (rows < h->guess)
		rows = h->guess;
	h->room = rows > 2 * h->room ? rows : 2 * h->room;
	return table_room(m, t, h->room);
}

/* The words of an entry in a row; those that it does not have are 0. */
static void entry_take(const struct hash *h, struct table *t, unsigned row, const uint64_t *percpu)
{
	uint64_t *to = row_words(t, row, 0);
	unsigned alone = t->cpus == 1 ? h->words : 0;

	memcpy(to, percpu, alone * sizeof(*to));
	memset(to + alone, 0, ((size_t)t->cpus * t->words - alone) * sizeof(*to));
	for (unsigned cpu = !!alone; cpu < h->cpus; cpu++)
		cpu_take(t, row, cpu, percpu + (size_t)cpu * h->words, h->words);
}

int keyed_read(const struct meter *m, struct table *t, int fd, unsigned cpus, unsigned words)
{
	static unsigned before[NR_METERS];	/* rows, of whichever interface */
	size_t size = (size_t)cpus * words * sizeof(uint64_t);
	unsigned part = VALUES_AT_ONCE / size;
	struct hash h = { .fd = fd, .cpus = cpus, .words = words,
			  .part = part > LEAST ? part : LEAST };
	bool same = cpus == 1 && t->cpus == 1 && words == t->words;	/* values are cells */

	h.guess = before[meter_id(m)] + h.part;
	t->rows = 0;
	while (!h.ended) {
		uint64_t *values = same ? NULL : values_room(h.part * size);
		int n;

		if (!table_grow(m, t, &h) || (!same && !values))
			return -ENOMEM;
		n = part_read(&h, t->keys + t->rows * m->key.size,
			      values ?: row_words(t, t->rows, 0));
		if (n < 0 && n != -ENOSPC)
			return n;
		if (n < 0)			/* a bucket with more */
			h.part *= 2;
		for (int i = 0; values && i < n; i++)
			entry_take(&h, t, t->rows + i, values + i * size / sizeof(*values));
		t->rows += n > 0 ? n : 0;
	}
	table_room(m, t, t->rows ?: 1);
	before[meter_id(m)] = t->rows;
	return 0;
}
