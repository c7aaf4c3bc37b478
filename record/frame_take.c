/* SPDX-License-Identifier: GPL-2.0 */
/* Reads frames, and makes snapshots of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/read/thinned.h"
#include "record/frame.h"
#include "record/told.h"

static bool keyed_take(struct sheet *s, const struct sheet_names *n, unsigned rows,
		       struct reading_of *r)
{
	unsigned fresh = take_count(r);

	if (!s->cells && !sheet_shape(s, 0, 1, n->words + 1))
		return false;
	s->key_size = n->key_size;
	if (rows != s->rows + fresh)
		return false;
	for (unsigned i = 0; i < fresh && !r->bad; i++) {
		const void *key = take_bytes(r, n->key_size);
		struct key_words *words = key ? key_words_take(r) : NULL;
		int row = words && sheet_row(s, key) < 0 ? sheet_row_add(s, key) : -1;

		if (row < 0) {
			free(words);
			return false;
		}
		s->said[row] = words;
	}
	return growth_take(s, r);
}

static bool sheet_next(struct frame_state *f, const struct names *n, struct reading_of *r,
		       unsigned nr)
{
	unsigned rows = take_uint(r), cpus = take_uint(r);
	struct sheet *s = nr < f->nr ? &f->sheets[nr] : NULL;

	if (!s || r->bad)
		return false;
	if (n->list[nr].key_size) {
		if (cpus != 1 || !keyed_take(s, &n->list[nr], rows, r))
			return false;
	} else {
		if ((!s->cells || s->rows != rows || s->cpus != cpus) &&
		    !sheet_shape(s, rows, cpus, n->list[nr].words))
			return false;
		if (!growth_take(s, r))
			return false;
	}
	s->here = true;
	return true;
}

bool frame_take(struct frame_state *f, const struct names *n, struct reading_of *r, bool full)
{
	unsigned nr;

	if (full) {
		frame_forget(f);
		f->sheets = calloc(n->nr + 1, sizeof(*f->sheets));
		f->nr = f->sheets ? n->nr : 0;
	}
	if (!f->sheets || f->nr != n->nr)
		return false;
	for (unsigned i = 0; i < f->nr; i++)
		f->sheets[i].here = false;
	while ((nr = take_uint(r)) && !r->bad)
		if (!sheet_next(f, n, r, nr - 1))
			return false;
	f->judged = take_uint(r);
	if (f->judged) {
		static struct findings before;

		before = f->told;
		if (!told_take(&f->told, &before, r))
			return false;
	}
	return !r->bad;
}

static const struct sheet *sheet_of(const struct frame_state *f, const struct names *n,
				    unsigned own)
{
	const struct sheet_names *of = names_of(n, own);

	return of && of - n->list < f->nr ? &f->sheets[of - n->list] : NULL;
}

/* The words of a row in the order of this version; those that the file lacks are 0. */
static void words_of(const struct sheet *s, const struct sheet_names *n, unsigned row,
		     unsigned cpu, uint64_t *to, unsigned nr)
{
	const uint64_t *from = s->cells + ((size_t)row * s->cpus + cpu) * s->words;

	for (unsigned i = 0; i < n->words; i++)
		if (n->to[i] < nr)
			to[n->to[i]] = from[i];
}

static void own_row(const struct frame_state *f, const struct names *n, unsigned own,
		    unsigned row, void *to)
{
	const struct sheet *s = sheet_of(f, n, own);

	if (s && s->cells && row < s->rows)
		words_of(s, names_of(n, own), row, 0, to, sheet_meter(own)->row_size / 8);
}

/* The row that a meter has in SHEET_METERS: its place among the meters of the file. */
static unsigned place_in(const struct names *n, int id)
{
	const struct sheet_names *of = names_of(n, OWN_SHEETS + id);

	return of && of - n->list >= OWN_SHEETS ? of - n->list - OWN_SHEETS : ~0u;
}

static int thinned_take(const struct frame_state *f, const struct names *n, struct snapshot *s)
{
	const struct sheet *t = sheet_of(f, n, SHEET_THINNED);
	unsigned cpus = s->meta.cpus;

	if (!t || !t->cells)
		return 0;
	s->thinned = calloc((size_t)NR_METERS * cpus, sizeof(*s->thinned));
	for (int id = 0; s->thinned && id < NR_METERS; id++)
		for (unsigned cpu = 0; cpu < cpus && place_in(n, id) < t->rows / cpus; cpu++)
			own_row(f, n, SHEET_THINNED, place_in(n, id) * cpus + cpu,
				&s->thinned[id * cpus + cpu]);
	return s->thinned ? 0 : -ENOMEM;
}

static int load_take(const struct frame_state *f, const struct names *n, struct snapshot *s)
{
	const struct sheet *l = sheet_of(f, n, SHEET_LOAD);

	if (!l || !l->cells || !l->rows)
		return 0;
	s->load.ticks = calloc(l->rows, sizeof(*s->load.ticks));
	if (!s->load.ticks)
		return -ENOMEM;
	s->load.nr = l->rows;
	for (unsigned cpu = 0; cpu < l->rows; cpu++)
		own_row(f, n, SHEET_LOAD, cpu, s->load.ticks[cpu]);
	return 0;
}

static int keyed_table(const struct sheet *s, const struct sheet_names *n, const struct meter *m,
		       struct table *t)
{
	for (unsigned row = 0; row < s->rows; row++) {
		uint64_t *words;

		if (!s->cells[(size_t)row * s->words + s->words - 1])
			continue;
		words = table_add(t, m, s->keys + (size_t)row * s->key_size);
		if (!words)
			return -ENOMEM;
		words_of(s, n, row, 0, words, t->words);
	}
	table_sort(m, t, NULL);
	return 0;
}

static int table_take(const struct sheet *s, const struct sheet_names *n, struct snapshot *to,
		      int id)
{
	const struct meter *m = meters[id];
	struct table *t = &to->tables[id];
	size_t row_size = m->row_size;

	t->words = m->row_size / 8;
	t->moments = m->moments;
	t->cpus = m->by & BY_CPU ? to->meta.cpus : 1;
	if (m->by & BY_KEY) {
		t->cells = malloc(row_size);
		t->keys = malloc(m->key.size);
		return t->cells && t->keys ? keyed_table(s, n, m, t) : -ENOMEM;
	}
	if (s->rows != meter_rows(m, to->meta.rows) || s->cpus != t->cpus)
		return -EPROTO;
	t->rows = s->rows;
	t->cells = calloc((size_t)t->rows * t->cpus, row_size);
	if (!t->cells)
		return -ENOMEM;
	for (unsigned row = 0; row < t->rows; row++)
		for (unsigned cpu = 0; cpu < t->cpus; cpu++)
			words_of(s, n, row, cpu, row_words(t, row, cpu), t->words);
	return 0;
}

/* Findings of kinds that this version has not are left out. */
static void told_known(struct findings *to, const struct findings *from)
{
	*to = *from;
	to->nr = 0;
	for (unsigned i = 0; i < from->nr; i++)
		if (from->list[i].kind)
			to->list[to->nr++] = from->list[i];
	if (to->nr < from->nr)
		findings_order(to);
}

static void times(struct snapshot *s, const struct frame_words *head)
{
	s->when = (struct timespec){ head->when / 1000000000, head->when % 1000000000 };
	s->boot_ns = head->boot_ns;
	s->mono_ns = head->mono_ns;
	s->seconds = (s->boot_ns - s->meta.since) * 1e-9;
}

int frame_snapshot(const struct frame_state *f, const struct names *n, struct snapshot *s)
{
	struct frame_words head = {};
	int err;

	own_row(f, n, SHEET_FRAME, 0, &head);
	times(s, &head);
	s->packets = head.packets;
	s->missed = head.missed;
	s->missed_nobodys = head.missed_nobodys;
	memcpy(s->missed_point, head.missed_point, sizeof(s->missed_point));
	err = load_take(f, n, s) ?: thinned_take(f, n, s);
	for (int id = 0; !err && id < NR_METERS; id++) {
		const struct sheet *t = sheet_of(f, n, OWN_SHEETS + id);
		struct meter_words w = {};

		own_row(f, n, SHEET_METERS, place_in(n, id), &w);
		s->lost[id] = w.lost;
		s->missed_meter[id] = w.missed;
		s->plan[id] = (struct pace_plan){ w.plan_room, w.plan_ticks, w.plan_take,
						  w.plan_pass, 0 };
		if (!t || !t->here || !t->cells || !(s->meta.on >> id & 1))
			continue;
		err = table_take(t, names_of(n, OWN_SHEETS + id), s, id);
		s->tables[id].changed = w.changed;
		s->tables[id].when = w.when ? s->boot_ns - w.when : 0;
		if (s->tables[id].when > s->meta.since)
			s->tables[id].seconds = (s->tables[id].when - s->meta.since) * 1e-9;
	}
	if (f->judged)
		told_known(&s->findings, &f->told);
	return err;
}

const struct key_words *frame_words_of(const struct frame_state *f, const struct names *n,
				       const struct meter *m, const void *key)
{
	const struct sheet *s = sheet_of(f, n, OWN_SHEETS + meter_id(m));
	int row = s && s->key_size == m->key.size ? sheet_row(s, key) : -1;

	return row < 0 ? NULL : s->said[row];
}
