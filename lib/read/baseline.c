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

/* Row `from` takes the place `to`, which is no later one. */
static void row_move(const struct meter *m, struct table *t, unsigned to, unsigned from)
{
	memmove(t->keys + to * m->key.size, t->keys + from * m->key.size, m->key.size);
	memmove(t->cells + (size_t)to * t->words, t->cells + (size_t)from * t->words,
		t->words * 8);
}

/* Of what was not there then: did it begin at 0 since? What nobody counts twice, did. */
static bool row_began(const struct meter *m, const struct table *now, unsigned row,
		      const struct table *then)
{
	return cell_idle(now, row, 0) || !m->began || m->began(then, now->keys + row * m->key.size);
}

void table_since(const struct meter *m, struct table *now, struct table *then, row_less *less)
{
	unsigned old = 0, kept = 0;

	table_sort(m, now, table_by_key);
	table_sort(m, then, table_by_key);
	for (unsigned row = 0; row < now->rows; row++) {
		const unsigned char *key = now->keys + row * m->key.size;
		int order = 1;

		while (old < then->rows &&
		       (order = memcmp(then->keys + old * m->key.size, key, m->key.size)) < 0) {
			now->changed = true;		/* it has gone */
			old++;
		}
		if (!order)
			less(m, now->cells + (size_t)row * now->words,
			     then->cells + (size_t)old++ * then->words);
		else if (!row_began(m, now, row, then))
			continue;
		row_move(m, now, kept++, row);
	}
	now->changed |= kept < now->rows || old < then->rows;
	now->rows = kept;
}

static void figures_less(const struct meter *m, uint64_t *now, const uint64_t *then)
{
	for (unsigned i = 0; i < m->row_size / 8; i++)
		now[i] -= now[i] >= then[i] ? then[i] : 0;
}

int baseline_since(const struct meter *m, const struct meta *meta, struct table *t, int pinned,
		   struct error *e)
{
	struct table then = {};
	int err = figures_read(m, meta, t, e) ?: table_read(m, meta, &then, pinned, e);

	if (!err)
		table_since(m, t, &then, figures_less);
	free(then.cells);
	free(then.keys);
	return err;
}
