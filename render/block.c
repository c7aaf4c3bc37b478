/* SPDX-License-Identifier: GPL-2.0 */
/* One meter of the table: its rows, their totals, and idle queues and points. */
#include <stdlib.h>
#include <string.h>

#include "lib/util/grow.h"
#include "lib/util/log.h"
#include "render/across.h"
#include "render/block.h"
#include "render/block_rows.h"
#include "render/sampled.h"

#define NARROW	60	/* on narrower pages a point is a line of its own, not a column */
#define MOST_QUEUES 8	/* with more queues than these, without -q, queues are folded… */
#define BUSIEST	3	/* …except this many with the highest counts */

/* Collects the active rows and sums them. */
static int collect(struct block *b)
{
	const struct table *t = b->t;

	b->all = calloc(t->words, sizeof(*b->all));
	b->total = calloc(t->words, sizeof(*b->total));
	if (!b->all || !b->total)
		return -1;
	for (unsigned row = 0; row < t->rows; row++)
		for (unsigned cpu = 0; cpu < t->cpus; cpu++) {
			struct entry *list, e = { .row = row, .cpu = cpu };

			if (row_idle(b->m, t, row, cpu))
				continue;
			if (!(b->m->by & BY_KEY))
				e.at = place_of(b->s, b->m, row);
			list = grow(b->active, b->nr, sizeof(*list));
			if (!list)
				return -1;
			b->active = list;
			list[b->nr++] = e;
			words_add(b->all, words_of(t, &e), t->words);
		}
	return 0;
}

struct column *block_label(struct block *b, const char *head)
{
	struct column *c = grid_column(&b->grid, 0, head);

	if (c)
		c->left = true;
	return c;
}

static void columns(struct block *b)
{
	if (b->m->by & BY_POINT && !b->headings)
		block_label(b, "");
	if (b->m->by & BY_QUEUE)
		block_label(b, "");
	if (b->m->by & BY_CPU)
		block_label(b, "");
	if (b->m->by & BY_KEY)
		keys_columns(b);
	b->columns = b->grid.nr;
	figures_columns(&b->figures, &b->grid, b->m);
}

static void label(struct block *b, const struct entry *e)
{
	unsigned column = b->m->by & BY_POINT && !b->headings;
	char text[128];

	if (b->m->by & BY_QUEUE) {
		snprintf(text, sizeof(text), e->at.queue < 0 ? "q?" : "q%d", e->at.queue);
		grid_cell(&b->grid, column++, text);
	}
	if (b->m->by & BY_CPU) {
		snprintf(text, sizeof(text), "cpu%u", e->cpu);
		grid_cell(&b->grid, column++, text);
	}
	for (unsigned i = 0; b->m->by & BY_KEY && b->m->key.labels[i]; i++) {
		keys_label(b, e, i, text, sizeof(text));
		grid_cell(&b->grid, column + i, text);
	}
}

/* Queues of a point that are in use but counted nothing: "idle: queues 1-3, 5". */
static void idle_queues(const struct block *b, enum point point, const struct entry *e,
			unsigned nr, char *text, size_t size)
{
	unsigned queues = point <= RX_STACK ? b->s->meta.rx_queues : b->s->meta.tx_queues;
	unsigned from = 0, idle = 0, i = 0;
	char list[64] = "";
	size_t len = 0;

	for (unsigned q = 0; q <= queues; q++) {
		bool active = q == queues;

		for (; i < nr && e[i].at.queue == (int)q; i++)
			active = true;
		if (!active)
			continue;
		if (q > from && len < sizeof(list))
			len += snprintf(list + len, sizeof(list) - len,
					q - from > 1 ? "%s%u-%u" : "%s%u",
					idle ? ", " : "", from, q - 1);
		idle += q - from;
		from = q + 1;
	}
	*text = '\0';
	if (len >= sizeof(list))
		snprintf(text, size, "idle: %u of %u queues", idle, queues);
	else if (idle)
		snprintf(text, size, "idle: queue%s %s", idle > 1 ? "s" : "", list);
}

static void point_name(struct block *b, enum point point)
{
	grid_line(&b->grid);
	if (b->headings)
		grid_name(&b->grid, point_names[point]);
	else
		grid_cell(&b->grid, 0, point_names[point]);
}

void block_sum(struct block *b, const struct entry *e, unsigned nr)
{
	memset(b->total, 0, b->t->words * sizeof(*b->total));
	for (unsigned i = 0; i < nr; i++)
		words_add(b->total, words_of(b->t, &e[i]), b->t->words);
}

static void total_line(struct block *b, const struct entry *e, unsigned nr)
{
	block_sum(b, e, nr);
	grid_line(&b->grid);
	grid_cell(&b->grid, b->m->by & BY_POINT && !b->headings, "total");
	figures_fill(&b->figures, &b->grid, b->columns, b->total);
}

/* Do the present columns fit? In the last layout, drops columns so that they do. */
static bool has_room(struct block *b)
{
	if (b->figures.room < ROOM_LITTLE)
		return grid_width(&b->grid) <= b->width;
	grid_make_way(&b->grid, b->width);
	return true;
}

/* Is this one of the BUSIEST rows? Among equals, the first ones are. */
static bool stands_out(const struct block *b, const struct entry *e, unsigned nr, unsigned i)
{
	uint64_t mine = row_weight(b->m, words_of(b->t, &e[i]));
	unsigned before = 0;

	for (unsigned k = 0; k < nr; k++) {
		uint64_t other = row_weight(b->m, words_of(b->t, &e[k]));

		before += other > mine || (other == mine && k < i);
	}
	return before < BUSIEST;
}

/* "61 others, 1.2% to 1.7% each" */
static void others_line(struct block *b, unsigned column, const struct entry *e, unsigned nr)
{
	uint64_t all = 0, least = UINT64_MAX, most = 0;

	for (unsigned i = 0; i < nr; i++)
		all += row_weight(b->m, words_of(b->t, &e[i]));
	for (unsigned i = 0; i < nr; i++) {
		uint64_t n = row_weight(b->m, words_of(b->t, &e[i]));

		if (stands_out(b, e, nr, i))
			continue;
		least = n < least ? n : least;
		most = n > most ? n : most;
	}
	grid_line(&b->grid);
	grid_span(&b->grid, column, text("%u others, %.1f%% to %.1f%% each", nr - BUSIEST,
					 all ? 100.0 * least / all : 0, all ? 100.0 * most / all :
					 0));
}

void block_lines(struct block *b, enum point point, const struct entry *e, unsigned nr)
{
	bool points = b->m->by & BY_POINT, first = true;
	bool folds = !(b->m->by & BY_KEY) && nr > MOST_QUEUES && !b->figures.look->queues;
	char idle[160];

	for (unsigned i = 0; i < nr; i++) {
		if (folds && !stands_out(b, e, nr, i))
			continue;
		if (!has_room(b))
			return;
		if (points && first)
			point_name(b, point);
		if (!points || !first || b->headings)
			grid_line(&b->grid);
		first = false;
		label(b, &e[i]);
		figures_fill(&b->figures, &b->grid, b->columns, words_of(b->t, &e[i]));
		keys_notes(b, &e[i]);
	}
	if (folds)
		others_line(b, points && !b->headings, e, nr);
	if (nr > 1 && b->m->by & BY_QUEUE)
		total_line(b, e, nr);
	if (!(b->m->by & BY_QUEUE))
		return;
	idle_queues(b, point, e, nr, idle, sizeof(idle));
	if (!*idle)
		return;
	grid_line(&b->grid);
	grid_span(&b->grid, points && !b->headings, idle);
}

static void lines(struct block *b)
{
	const struct entry *e = b->active;

	if (b->m->by & BY_KEY) {
		keys_lines(b);
		return;
	}
	for (unsigned from = 0, to; from < b->nr; from = to) {
		for (to = from; to < b->nr && e[to].at.point == e[from].at.point; to++)
			;
		block_lines(b, e[from].at.point, e + from, to - from);
	}
}

/* Points that have a hook but saw no packets. */
static void idle_points(struct block *b, struct page *p)
{
	for (unsigned i = 0; i < NR_POINTS && b->m->by & BY_POINT; i++) {
		bool active = !b->s->meta.hook[i][0] || !(meter_points(b->m) >> i & 1);

		for (unsigned j = 0; j < b->nr && !active; j++)
			active = b->active[j].at.point == i;
		if (active)
			continue;
		if (!p->at) {
			page_spaces(p, 2);
			page_style(p, STYLE_DIM);
		}
		page_wrap(p, 2, p->at > 2 ? "," : "idle:");
		page_wrap(p, 2, " ");
		page_wrap(p, 2, point_names[i]);
	}
	page_end_dim(p);
}

static void heading(struct page *p, const struct snapshot *s, const struct meter *m)
{
	const char *sampled = sampled_text(s, meter_id(m));
	unsigned one_in = meter_sample(m, &s->meta);

	page_section(p, m->name, m->help);
	if (sampled)
		page_wrap(p, 2, text(": %s", sampled));
	else if (m->sample && one_in > 1)
		page_wrap(p, 2, text(": 1 packet in %u", one_in));
	page_newline(p);
}

static void build(struct block *b, const struct look *look, enum room room)
{
	b->figures = (struct figures){ .s = b->s, .m = b->m, .look = look, .all = b->all,
					.room = room, .seconds = table_seconds(b->s, b->m) };
	columns(b);
	if (!b->grid.short_of_memory)
		lines(b);
}

static void tear_down(struct block *b)
{
	grid_free(&b->grid);
	free(b->figures.list);
}

static void legend_line(struct block *b, struct page *p)
{
	char legend[256];

	if (!b->figures.bars || b->grid.columns[b->figures.bars].gone)
		return;
	figures_legend(b->m, p->look, legend, sizeof(legend));
	page_dim(p, 2, legend);
}

static void rows(struct block *b, struct page *p)
{
	b->headings = b->m->by & BY_POINT && p->width < NARROW;
	b->width = p->width;
	for (enum room room = ROOM_PLENTY; ; room++) {
		build(b, p->look, room);
		if (has_room(b))
			break;
		tear_down(b);
	}
	grid_print(&b->grid, p);
	idle_points(b, p);
	legend_line(b, p);
	tear_down(b);
}

bool block(struct page *p, const struct snapshot *s, const struct meter *m)
{
	struct block b = { .s = s, .m = m, .t = &s->tables[meter_id(m)] };
	bool short_of_memory = collect(&b), any = b.nr || short_of_memory;
	bool passed = thinned_of(s, meter_id(m)).passed;	/* perhaps all: it was paused */

	if (any || passed)
		heading(p, s, m);
	if (any && !short_of_memory && m->layout == LAYOUT_ACROSS)
		short_of_memory = !across(p, s, m);
	else if (any && !short_of_memory)
		rows(&b, p);
	if (short_of_memory)
		page_dim(p, 2, "out of memory");
	free(b.active);
	free(b.total);
	free(b.all);
	return any || passed;
}
