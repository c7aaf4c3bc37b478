/* SPDX-License-Identifier: GPL-2.0 */
/* Copies of a snapshot; the difference of two moments. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/read/baseline.h"
#include "lib/read/derived.h"
#include "lib/read/snapshot.h"
#include "lib/read/thinned.h"

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* With the tables of `from`. */
static void shallow_copy(struct snapshot *to, const struct snapshot *from)
{
	memcpy(to, from, offsetof(struct snapshot, findings));
	findings_copy(&to->findings, &from->findings);
}

void snapshot_move(struct snapshot *to, struct snapshot *from)
{
	snapshot_free(to);
	shallow_copy(to, from);
	memset(from, 0, offsetof(struct snapshot, findings));
	findings_clear(&from->findings);
}

static void *duplicate(const void *from, size_t size)
{
	void *to = from ? malloc(size + 1) : NULL;

	return to ? memcpy(to, from, size) : NULL;
}

/* All but its tables. */
static int frame_copy(struct snapshot *to, const struct snapshot *from)
{
	int err;

	shallow_copy(to, from);
	err = load_copy(&to->load, &from->load);
	to->thinned = duplicate(from->thinned, (size_t)NR_METERS * from->meta.cpus *
					       sizeof(*from->thinned));
	return !to->thinned == !from->thinned ? err : -ENOMEM;
}

static size_t cells_size(const struct table *t)
{
	return (size_t)(t->at ? t->held : t->rows) * t->cpus * t->words * sizeof(*t->cells);
}

/* All but its cells, for which there is room. */
static bool shape_copy(const struct meter *m, struct table *to, const struct table *from)
{
	*to = *from;
	to->cells = from->cells ? malloc(cells_size(from) + 1) : NULL;
	to->at = duplicate(from->at, from->rows * sizeof(*from->at));
	to->keys = duplicate(from->keys, (size_t)from->rows * m->key.size);
	return !to->cells == !from->cells && !to->at == !from->at && !to->keys == !from->keys;
}

static bool table_copy(const struct meter *m, struct table *to, const struct table *from)
{
	bool good = shape_copy(m, to, from);

	if (to->cells)
		memcpy(to->cells, from->cells, cells_size(from));
	return good;
}

int snapshot_copy(struct snapshot *to, const struct snapshot *from)
{
	int err = frame_copy(to, from);

	for (int id = 0; id < NR_METERS; id++)
		if (!table_copy(meters[id], &to->tables[id], &from->tables[id]))
			err = -ENOMEM;
	return err;
}

/* What has nothing now had nothing before. */
static bool row_has(const struct table *t, unsigned row)
{
	return !t->at || t->at[row];
}

/* Two arrays that have the same rows. */
static bool alike(const struct table *a, const struct table *b)
{
	return !a->keys && a->cells && b->cells && a->rows == b->rows;
}

static void rows_diff(const struct meter *m, struct table *now, const struct table *before)
{
	for (unsigned row = 0; row < now->rows; row++)
		for (unsigned cpu = 0; cpu < now->cpus && row_has(now, row); cpu++)
			row_since(m, row_words(now, row, cpu), row_words(before, row, cpu));
}

/* Copies and differences row by row: a row is still in the cache then. */
static void rows_since(const struct meter *m, struct table *to, const struct table *now,
		       const struct table *before)
{
	size_t size = now->words * sizeof(*now->cells);

	if (now->at)			/* the row of nothing */
		memcpy(to->cells, now->cells, now->cpus * size);
	for (unsigned row = 0; row < now->rows; row++)
		for (unsigned cpu = 0; cpu < now->cpus && row_has(now, row); cpu++)
			row_since(m, memcpy(row_words(to, row, cpu), row_words(now, row, cpu),
					    size), row_words(before, row, cpu));
}

/* When something last was is no figure of a window. */
static void moments_forget(struct table *t)
{
	for (unsigned row = 0; t->moments && t->cells && row < t->rows; row++)
		memset(row_words(t, row, 0) + t->moments, 0,
		       (t->words - t->moments) * sizeof(*t->cells));
}

/* All but the words of arrays. `cells`: of table_since(). */
static void table_end(const struct meter *m, struct table *now, const uint64_t *cells,
		      const struct table *before)
{
	if (now->when > before->when && before->when)
		now->seconds = (now->when - before->when) * 1e-9;
	if (now->keys && before->keys) {
		table_since(m, now, cells, before, row_since);
		table_sort(m, now, NULL);
	}
	moments_forget(now);
}

/* All but the tables. */
static void frame_diff(struct snapshot *now, const struct snapshot *before)
{
	thinned_diff(now, before);
	load_diff(&now->load, &before->load);
	/* a meter may be gone since */
	now->missed -= least(now->missed, before->missed);
	now->missed_nobodys -= least(now->missed_nobodys, before->missed_nobodys);
	for (int id = 0; id < NR_METERS; id++) {
		now->lost[id] -= least(now->lost[id], before->lost[id]);
		now->missed_meter[id] -= least(now->missed_meter[id], before->missed_meter[id]);
	}
	for (int p = 0; p < NR_POINTS; p++)
		now->missed_point[p] -= least(now->missed_point[p], before->missed_point[p]);
	now->seconds = (now->boot_ns - before->boot_ns) * 1e-9;
	now->interval = true;
}

void snapshot_diff(struct snapshot *now, const struct snapshot *before)
{
	for (int id = 0; id < NR_METERS; id++) {
		struct table *t = &now->tables[id];
		const struct table *b = &before->tables[id];

		if (alike(t, b))
			rows_diff(meters[id], t, b);
		table_end(meters[id], t, NULL, b);
	}
	frame_diff(now, before);
}

int snapshot_since(struct snapshot *to, const struct snapshot *now, const struct snapshot *before)
{
	int err = frame_copy(to, now);

	for (int id = 0; id < NR_METERS; id++) {
		const struct table *t = &now->tables[id], *b = &before->tables[id];
		bool fresh = alike(t, b), keyed = t->keys && b->keys;
		bool good = fresh || keyed ? shape_copy(meters[id], &to->tables[id], t) :
			    table_copy(meters[id], &to->tables[id], t);

		if (!good) {
			err = -ENOMEM;
			continue;
		}
		if (fresh)
			rows_since(meters[id], &to->tables[id], t, b);
		table_end(meters[id], &to->tables[id], keyed ? t->cells : NULL, b);
	}
	if (!err)
		frame_diff(to, before);
	return err;
}
