/* SPDX-License-Identifier: GPL-2.0 */
/* From maps to arrays. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/attach/begin.h"
#include "lib/attach/pinned.h"
#include "lib/attach/pins.h"
#include "lib/net/iface.h"
#include "lib/read/baseline.h"
#include "lib/read/derived.h"
#include "lib/read/losses.h"
#include "lib/read/snapshot.h"
#include "lib/read/rows.h"
#include "lib/read/thinned.h"
#include "lib/util/clock.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

struct place place_of(const struct snapshot *s, const struct meter *m, unsigned row)
{
	unsigned rows = m->by & BY_QUEUE ? s->meta.rows : 1, queue = row % rows;

	return (struct place){
		.point = m->by & BY_POINT ? row / rows : m->point,
		.queue = queue == rows - 1 && m->by & BY_QUEUE ? -1 : (int)queue,
	};
}

/*
 * Where its namespace cannot be entered any more, or another interface has its index, the meter has
 * nothing to show.
 */
static int figures_since(struct snapshot *s, enum meter_id id, const char *pins,
			 const struct pinned_map *map, struct error *e)
{
	if (netns_enter_same(s->meta.netns, s->meta.cookie, NULL))
		return 0;
	if (s->pins_are == UNASKED)
		s->pins_are = pins_of_other(pins, &s->meta, iface_inode(s->meta.ifindex)) ?
			      OF_ANOTHER : OF_THIS;
	if (s->pins_are == OF_ANOTHER)
		return 0;
	return baseline_since(meters[id], &s->meta, &s->tables[id], map, e);
}

struct sorting {
	const struct table *t;
	size_t key_size;
};

int table_by_key(const void *a, const void *b, void *arg)
{
	const struct sorting *s = arg;

	return memcmp(s->t->keys + *(const unsigned *)a * s->key_size,
		      s->t->keys + *(const unsigned *)b * s->key_size, s->key_size);
}

static int by_count(const void *a, const void *b, void *arg)
{
	const struct sorting *s = arg;
	uint64_t x = s->t->cells[*(const unsigned *)a * (size_t)s->t->words];
	uint64_t y = s->t->cells[*(const unsigned *)b * (size_t)s->t->words];

	return x == y ? table_by_key(a, b, arg) : x < y ? 1 : -1;
}

static table_order *shown_by(const struct meter *m)
{
	return m->key.sorted ? table_by_key : by_count;
}

static bool in_order(const struct sorting *s, table_order *cmp)
{
	for (unsigned row = 1; row < s->t->rows; row++)
		if (cmp(&(unsigned){ row - 1 }, &row, (void *)s) > 0)
			return false;
	return true;
}

unsigned *table_ranks(const struct meter *m, const struct table *t, table_order *cmp)
{
	struct sorting sorting = { t, m->key.size };
	unsigned *order = malloc((t->rows + 1) * sizeof(*order));

	for (unsigned i = 0; order && i < t->rows; i++)
		order[i] = i;
	if (order && !in_order(&sorting, cmp))
		qsort_r(order, t->rows, sizeof(*order), cmp, &sorting);
	return order;
}

/* A row and its key, to another row of the table. */
static void row_move(const struct meter *m, struct table *t, unsigned to, unsigned from)
{
	memcpy(t->keys + to * m->key.size, t->keys + from * m->key.size, m->key.size);
	memcpy(row_words(t, to, 0), row_words(t, from, 0), (size_t)t->words * sizeof(*t->cells));
}

/* Each row takes the place of the one before, from `first` on until the circle is closed. */
static void circle_move(const struct meter *m, struct table *t, unsigned *from, unsigned first,
			void *spare)
{
	size_t words = (size_t)t->words * sizeof(*t->cells);
	unsigned to = first;

	memcpy(spare, row_words(t, first, 0), words);
	memcpy((char *)spare + words, t->keys + first * m->key.size, m->key.size);
	while (from[to] != first) {
		unsigned next = from[to];

		row_move(m, t, to, next);
		from[to] = to;
		to = next;
	}
	from[to] = to;
	memcpy(row_words(t, to, 0), spare, words);
	memcpy(t->keys + to * m->key.size, (char *)spare + words, m->key.size);
}

/*
 * Puts the rows of a keyed table in order: those of most readings are. They stay in their memory,
 * since new memory of that size is cleared by the kernel first. Without memory they stay as they
 * are.
 */
void table_sort(const struct meter *m, struct table *t, table_order *cmp)
{
	unsigned *from;
	void *spare;

	cmp = cmp ?: shown_by(m);
	if (in_order(&(struct sorting){ t, m->key.size }, cmp))
		return;
	from = table_ranks(m, t, cmp);
	spare = malloc((size_t)t->words * sizeof(*t->cells) + m->key.size);
	for (unsigned row = 0; from && spare && row < t->rows; row++)
		if (from[row] != row)
			circle_move(m, t, from, row, spare);
	free(from);
	free(spare);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Of a meter that evicts: what its rows still have. */
static uint64_t kept(const struct table *t)
{
	uint64_t n = 0;

	for (unsigned row = 0; row < t->rows; row++)
		n += t->cells[(size_t)row * t->words];
	return n;
}

int snapshot_table(struct snapshot *s, int id, const char *pins, struct error *e)
{
	const struct meter *m = meters[id];
	uint64_t from = clock_ns(CLOCK_BOOTTIME);
	struct pinned_map map = pin_rows(text("%s/%s", pins, m->name));
	int err;

	if (map.fd < 0)
		return error_set(e, -errno, NULL, "cannot open %s/%s: %s", pins, m->name,
				 strerror(errno));
	err = m->type == READ_METER ? figures_since(s, id, pins, &map, e) :
	      table_read(m, &s->meta, &s->tables[id], &map, e);
	pin_close(&map);
	s->tables[id].when = from + (clock_ns(CLOCK_BOOTTIME) - from) / 2;
	if (!err && m->key.evicts)
		s->lost[id] -= least(s->lost[id], kept(&s->tables[id]));
	if (!err && m->fixup)
		err = m->fixup(pins, &s->tables[id]);
	if (!err && s->tables[id].keys)
		table_sort(m, &s->tables[id], NULL);
	return err;
}

int snapshot_fill(struct snapshot *s, const char *pins, struct error *e)
{
	int err = 0;

	losses_lost(s, pins);	/* first: what comes meanwhile is not lost */
	for (int id = 0; id < NR_METERS && !err; id++)
		if (s->meta.on >> id & 1 && meters[id]->type != DERIVED_METER)
			err = snapshot_table(s, id, pins, e);
	if (!err)
		thinned_read(s, pins);	/* last: nothing was passed by before, if nothing is now */
	return err;
}

int snapshot_read(struct snapshot *s, const char *pins, struct error *e)
{
	int err = meta_read(pins, &s->meta, e);

	if (err)
		return err;
	begin_near(&s->meta, pins);
	s->online = sysconf(_SC_NPROCESSORS_ONLN);
	load_read(&s->load);
	s->wanted = s->meta.on;
	err = snapshot_fill(s, pins, e) ?: derived_read(s, pins, e);
	losses_missed(s, pins);
	clock_gettime(CLOCK_REALTIME, &s->when);
	s->boot_ns = clock_ns(CLOCK_BOOTTIME);
	s->mono_ns = clock_ns(CLOCK_MONOTONIC);
	s->seconds = (s->boot_ns - s->meta.since) * 1e-9;
	for (int id = 0; id < NR_METERS; id++)
		if (s->tables[id].when > s->meta.since)
			s->tables[id].seconds = (s->tables[id].when - s->meta.since) * 1e-9;
	return err;
}

void snapshot_free(struct snapshot *s)
{
	for (int id = 0; id < NR_METERS; id++) {
		struct table *t = &s->tables[id];

		free(t->cells);
		free(t->at);
		free(t->keys);
		*t = (struct table){};
	}
	free(s->thinned);
	s->thinned = NULL;
	load_free(&s->load);
}

/* The histogram that has every packet in its count, and whose it is. */
static const struct metric *every_packet(enum meter_id *id)
{
	for (*id = 0; *id < NR_METERS; (*id)++)
		for_each_metric(k, meters[*id])
			if (k->every_packet)
				return k;
	return NULL;
}

uint64_t snapshot_packets(const struct snapshot *s)
{
	enum meter_id id;
	const struct metric *k = every_packet(&id);
	const struct table *t = k ? &s->tables[id] : NULL;
	uint64_t n = s->packets;

	if (n || s->meta.devices != 1 || !t || !t->cells || !*s->meta.hook[RX_NIC] ||
	    !*s->meta.hook[TX_NIC])
		return n;
	for (unsigned row = 0; row < t->rows; row++) {
		enum point point = place_of(s, meters[id], row).point;

		if (point == RX_NIC || point == TX_NIC)
			n += hist_count(k, cell(t, row, 0, k));
	}
	return n;
}
