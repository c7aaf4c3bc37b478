/* SPDX-License-Identifier: GPL-2.0 */
/* Figures that the kernel keeps by itself: what they were at attach is pinned, and taken off. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "baseline.h"
#include "log.h"

uint64_t *table_add(struct table *t, const struct meter *m, const void *key)
{
	size_t row_size = (size_t)t->words * 8;

	if (!(t->rows & (t->rows - 1))) {	/* as many as there is room for */
		unsigned room = t->rows ? 2 * t->rows : 1;
		void *keys = realloc(t->keys, room * m->key_size), *cells;

		if (!keys)
			return NULL;
		t->keys = keys;
		cells = realloc(t->cells, room * row_size);
		if (!cells)
			return NULL;
		t->cells = cells;
	}
	memcpy(t->keys + t->rows * m->key_size, key, m->key_size);
	return memset(t->cells + (size_t)t->rows++ * t->words, 0, row_size);
}

static int figures_read(const struct meter *m, const struct meta *meta, struct table *t)
{
	*t = (struct table){ .cpus = 1, .words = m->row_size / 8 };
	t->cells = malloc(m->row_size);		/* none is a table, too */
	t->keys = malloc(m->key_size);
	return t->cells && t->keys ? m->read(meta, t) : -ENOMEM;
}

int table_pin(const struct site *site, const struct meter *m, const struct table *t)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_HASH, m->name, m->key_size, m->row_size,
				t->rows ?: 1, NULL);
	int err = fd < 0 ? -errno : 0;

	for (unsigned row = 0; !err && row < t->rows; row++)
		if (bpf_map_update_elem(fd, t->keys + row * m->key_size,
					t->cells + (size_t)row * t->words, 0))
			err = -errno;
	if (!err && bpf_obj_pin(fd, pin_path(site, m->name)))
		err = -errno;
	if (err && !*complaint())
		complain(err, NULL, "cannot keep what the counters were: %s", strerror(-err));
	if (fd >= 0)
		close(fd);
	return err;
}

int baseline_pin(const struct site *site, const struct meter *m, const struct meta *meta)
{
	struct table t;
	int err = figures_read(m, meta, &t);

	if (err && !*complaint())
		complain(err, NULL, "cannot read what the counters are: %s", strerror(-err));
	err = err ?: table_pin(site, m, &t);
	free(t.cells);
	free(t.keys);
	return err;
}

int baseline_since(const struct meter *m, const struct meta *meta, struct table *t, int pinned)
{
	uint64_t *then = malloc(m->row_size);
	int err = then ? figures_read(m, meta, t) : -ENOMEM;

	for (unsigned row = 0; !err && row < t->rows; row++) {
		uint64_t *now = t->cells + (size_t)row * t->words;

		if (bpf_map_lookup_elem(pinned, t->keys + row * m->key_size, then))
			continue;
		for (unsigned i = 0; i < t->words; i++)
			now[i] -= now[i] >= then[i] ? then[i] : 0;
	}
	free(then);
	return err;
}
