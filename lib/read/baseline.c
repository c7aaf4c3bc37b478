/* SPDX-License-Identifier: GPL-2.0 */
/* Figures that the kernel keeps by itself: what they were at attach is pinned, and taken off. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/read/baseline.h"
#include "lib/read/rows.h"
#include "lib/util/error.h"

uint64_t *table_add(struct table *t, const struct meter *m, const void *key)
{
	size_t row_size = (size_t)t->words * 8;

	if (!(t->rows & (t->rows - 1))) {	/* as many as there is room for */
		unsigned room = t->rows ? 2 * t->rows : 1;
		void *keys = realloc(t->keys, room * m->key.size), *cells;

		if (!keys)
			return NULL;
		t->keys = keys;
		cells = realloc(t->cells, room * row_size);
		if (!cells)
			return NULL;
		t->cells = cells;
	}
	memcpy(t->keys + t->rows * m->key.size, key, m->key.size);
	return memset(t->cells + (size_t)t->rows++ * t->words, 0, row_size);
}

static int figures_read(const struct meter *m, const struct meta *meta, struct table *t,
			struct error *e)
{
	*t = (struct table){ .cpus = 1, .words = m->row_size / 8 };
	t->cells = malloc(m->row_size);		/* none is a table, too */
	t->keys = malloc(m->key.size);
	return t->cells && t->keys ? m->read(meta, t, e) : -ENOMEM;
}

int table_pin(const struct site *site, const struct meter *m, const struct table *t)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_HASH, m->name, m->key.size, m->row_size,
				t->rows ?: 1, NULL);
	int err = fd < 0 ? -errno : 0;

	for (unsigned row = 0; !err && row < t->rows; row++)
		if (bpf_map_update_elem(fd, t->keys + row * m->key.size,
					t->cells + (size_t)row * t->words, 0))
			err = -errno;
	if (!err && bpf_obj_pin(fd, pin_path(site, m->name)))
		err = -errno;
	if (err)
		error_set(site->error, err, NULL, "cannot keep what the counters were: %s",
			  strerror(-err));
	if (fd >= 0)
		close(fd);
	return err;
}

int baseline_read(const struct site *site, const struct meter *m, const struct meta *meta)
{
	int err = figures_read(m, meta, &site->figures[meter_id(m)], site->error);

	if (err)
		error_set(site->error, err, NULL, "cannot read what the counters are: %s",
			  strerror(-err));
	return err;
}

/* Leaves out the rows that are marked. */
static void rows_leave(const struct meter *m, struct table *t, const bool *leave)
{
	unsigned kept = 0;

	for (unsigned row = 0; row < t->rows; row++) {
		if (leave[row])
			continue;
		if (kept < row) {
			memcpy(t->keys + kept * m->key.size, t->keys + row * m->key.size,
			       m->key.size);
			memcpy(t->cells + (size_t)kept * t->words,
			       t->cells + (size_t)row * t->words, t->words * 8);
		}
		kept++;
	}
	t->rows = kept;
}

/* Of what was not there then: did it begin at 0 since? What nobody counts twice, did. */
static bool row_began(const struct meter *m, const struct table *now, unsigned row,
		      const struct table *then)
{
	return cell_idle(now, row, 0) || !m->began || m->began(then, now->keys + row * m->key.size);
}

/* Marks the rows that are to be left out. `a`, `b`: the rows of both by key; all stay in place. */
static void rows_since(const struct meter *m, struct table *now, const uint64_t *cells,
		       const unsigned *a, const struct table *then, const unsigned *b,
		       row_less *less, bool *leave)
{
	unsigned old = 0;

	for (unsigned i = 0; i < now->rows; i++) {
		const unsigned char *key = now->keys + a[i] * m->key.size;
		size_t at = (size_t)a[i] * now->words;
		int order = 1;

		if (cells)		/* row by row: each is still in the cache when it is used */
			memcpy(now->cells + at, cells + at, now->words * sizeof(*cells));
		while (old < then->rows &&
		       (order = memcmp(then->keys + b[old] * m->key.size, key, m->key.size)) < 0) {
			now->changed = true;		/* it has gone */
			old++;
		}
		if (!order)
			less(m, now->cells + at,
			     then->cells + (size_t)b[old++] * then->words);
		else
			leave[a[i]] = !row_began(m, now, a[i], then);
		now->changed |= leave[a[i]];
	}
	now->changed |= old < then->rows;
}

void table_since(const struct meter *m, struct table *now, const uint64_t *cells,
		 const struct table *then, row_less *less)
{
	unsigned *a = table_ranks(m, now, table_by_key), *b = table_ranks(m, then, table_by_key);
	bool *leave = calloc(now->rows + 1, sizeof(*leave));

	if (a && b && leave) {
		rows_since(m, now, cells, a, then, b, less, leave);
		rows_leave(m, now, leave);
	} else {	/* no memory: nothing can be told of it */
		now->changed = true;
		now->rows = 0;
	}
	free(a);
	free(b);
	free(leave);
}

/* A level is what it is now. */
static bool is_level(const struct meter *m, unsigned word)
{
	for_each_metric(k, m)
		if (k->kind == KIND_LEVEL && word >= k->at && word < k->at + k->words)
			return true;
	return false;
}

static void figures_less(const struct meter *m, uint64_t *now, const uint64_t *then)
{
	for (unsigned i = 0; i < m->row_size / 8; i++)
		now[i] -= now[i] >= then[i] && !is_level(m, i) ? then[i] : 0;
}

int baseline_since(const struct meter *m, const struct meta *meta, struct table *t,
		   const struct pinned_map *pinned, struct error *e)
{
	struct table then = {};
	int err = figures_read(m, meta, t, e) ?: table_read(m, meta, &then, pinned, e);

	if (!err)
		table_since(m, t, NULL, &then, figures_less);
	free(then.cells);
	free(then.keys);
	return err;
}
