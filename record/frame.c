/* SPDX-License-Identifier: GPL-2.0 */
/* Writes a frame: the sheets that changed, and the findings. */
#include <stdlib.h>
#include <string.h>

#include "lib/read/thinned.h"
#include "record/frame.h"
#include "record/told.h"

void frame_forget(struct frame_state *f)
{
	for (unsigned i = 0; f->sheets && i < f->nr; i++)
		sheet_forget(&f->sheets[i]);
	free(f->sheets);
	*f = (struct frame_state){};
}

static void shape_put(struct bytes *b, unsigned nr, const struct sheet *s, unsigned rows)
{
	bytes_uint(b, nr + 1);
	bytes_uint(b, rows);
	bytes_uint(b, s->cpus);
}

/* Makes the sheet fit, if it is another or the first. */
static bool fits(struct sheet *s, unsigned rows, unsigned cpus, unsigned words)
{
	return s->cells && s->rows == rows && s->cpus == cpus && s->words == words ? true :
	       sheet_shape(s, rows, cpus, words);
}

static bool plain_put(struct bytes *b, struct frame_state *f, unsigned nr, const uint64_t *now,
		      unsigned rows, unsigned words)
{
	struct sheet *s = &f->sheets[nr];
	struct sheet_growth g = {};

	if (!fits(s, rows, 1, words))
		return false;
	for (unsigned row = 0; row < rows; row++)
		growth_row(&g, s, row, 0, now + (size_t)row * words);
	if (!g.nr)
		return true;
	shape_put(b, nr, s, rows);
	growth_put(b, &g);
	return true;
}

static bool array_put(struct bytes *b, struct frame_state *f, unsigned nr, const struct table *t)
{
	struct sheet *s = &f->sheets[nr];
	struct sheet_growth g = {};

	if (!fits(s, t->rows, t->cpus, t->words))
		return false;
	for (unsigned row = 0; row < t->rows; row++) {
		bool idle = t->at && !t->at[row];

		/* where nothing ever was: megabytes of zeros, if a driver has many queues */
		if (idle && !s->used[row])
			continue;
		s->used[row] |= !idle;
		for (unsigned cpu = 0; cpu < t->cpus; cpu++)
			growth_row(&g, s, row, cpu, row_words(t, row, cpu));
	}
	shape_put(b, nr, s, t->rows);
	growth_put(b, &g);
	return true;
}

/* Adds what is new to the sheet, and to `fresh`; `from`: the row of the table of each, and 1. */
static bool keys_put(struct bytes *fresh, struct sheet *s, const struct meter *m,
		     const struct table *t, unsigned **from)
{
	unsigned *at = malloc((t->rows + 1) * sizeof(*at));

	for (unsigned row = 0; at && row < t->rows; row++) {
		const unsigned char *key = t->keys + row * m->key.size;
		int has = sheet_row(s, key);

		if (has < 0) {
			has = sheet_row_add(s, key);
			bytes_add(fresh, key, m->key.size);
			key_words_put(fresh, m, key);
		}
		if (has < 0) {
			free(at);
			return false;
		}
		at[row] = has;
	}
	*from = calloc(s->rows + 1, sizeof(**from));
	for (unsigned row = 0; at && *from && row < t->rows; row++)
		(*from)[at[row]] = row + 1;
	free(at);
	return at && *from;
}

/* Rows that are new have their keys and words here; each row's last word is whether it is there. */
static bool keyed_put(struct bytes *b, struct frame_state *f, unsigned nr, const struct table *t)
{
	struct sheet *s = &f->sheets[nr];
	struct sheet_growth g = {};
	struct bytes fresh = {};
	unsigned words = t->words + 1, had, *from = NULL;
	bool good = s->cells || sheet_shape(s, 0, 1, words);

	s->key_size = sheet_meter(nr)->key.size;
	had = s->rows;
	good = good && keys_put(&fresh, s, sheet_meter(nr), t, &from);
	for (unsigned row = 0; good && row < s->rows; row++) {
		size_t at = (size_t)row * words;

		if (from[row])
			growth_words(&g, s, at, t->cells + (size_t)(from[row] - 1) * t->words,
				     t->words);
		growth_words(&g, s, at + t->words, &(uint64_t){ from[row] != 0 }, 1);
	}
	shape_put(b, nr, s, s->rows);
	bytes_uint(b, s->rows - had);
	bytes_add(b, fresh.bytes, fresh.nr);
	growth_put(b, &g);
	b->failed |= fresh.failed;
	bytes_free(&fresh);
	free(from);
	return good;
}

static bool own_put(struct bytes *b, struct frame_state *f, const struct snapshot *s)
{
	struct frame_words head = {
		.seq = f->seq++, .when = s->when.tv_sec * 1000000000ull + s->when.tv_nsec,
		.boot_ns = s->boot_ns, .mono_ns = s->mono_ns, .packets = s->packets,
		.missed = s->missed, .missed_nobodys = s->missed_nobodys,
	};
	struct meter_words each[NR_METERS] = {};

	memcpy(head.missed_point, s->missed_point, sizeof(head.missed_point));
	for (int id = 0; id < NR_METERS; id++)
		each[id] = (struct meter_words){
			.lost = s->lost[id], .missed = s->missed_meter[id],
			.when = s->tables[id].when ? s->boot_ns - s->tables[id].when : 0,
			.changed = s->tables[id].changed,
			.plan_room = s->plan[id].room, .plan_ticks = s->plan[id].ticks,
			.plan_take = s->plan[id].take, .plan_pass = s->plan[id].pass,
		};
	return plain_put(b, f, SHEET_FRAME, (void *)&head, 1, sizeof(head) / 8) &&
	       plain_put(b, f, SHEET_METERS, (void *)each, NR_METERS, sizeof(*each) / 8) &&
	       (!s->load.nr || plain_put(b, f, SHEET_LOAD, (void *)s->load.ticks, s->load.nr,
					 NR_SPENT)) &&
	       (!s->thinned || plain_put(b, f, SHEET_THINNED, (void *)s->thinned,
					 NR_METERS * s->meta.cpus, sizeof(*s->thinned) / 8));
}

static bool start(struct frame_state *f)
{
	uint64_t seq = f->seq;

	frame_forget(f);
	f->seq = seq;
	f->nr = NR_SHEETS;
	f->sheets = calloc(NR_SHEETS, sizeof(*f->sheets));
	return f->sheets;
}

bool frame_put(struct bytes *b, struct frame_state *f, const struct snapshot *s,
	       const struct findings *told, bool full)
{
	bool good = full || !f->sheets ? start(f) : true;

	good = good && own_put(b, f, s);
	for (int id = 0; good && id < NR_METERS; id++) {
		const struct table *t = &s->tables[id];

		if (t->cells)
			good = t->keys ? keyed_put(b, f, OWN_SHEETS + id, t) :
			       array_put(b, f, OWN_SHEETS + id, t);
	}
	bytes_uint(b, 0);
	bytes_uint(b, !!told);
	if (told && good) {
		told_put(b, told, &f->told);
		findings_copy(&f->told, told);
	}
	return good && !b->failed;
}
