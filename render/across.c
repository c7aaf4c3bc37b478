/* SPDX-License-Identifier: GPL-2.0 */
/* A keyed meter as a matrix: one line per queue, one column per statistic. */
#include <stdlib.h>
#include <string.h>

#include "lib/core/key.h"
#include "lib/util/log.h"
#include "render/across.h"
#include "render/grid.h"
#include "render/units.h"

#define LABEL	64	/* size of the longest label */
#define MOST	96	/* columns at most; JSON has all */
#define MINOR	20	/* statistics under the driver's own names, at most; JSON has all */

/* The labels: direction, queue, statistic. */
enum { GROUP, LINE, ACROSS };

struct lane {				/* the consecutive rows of one direction */
	const struct snapshot *s;
	const struct meter *m;
	const struct table *t;
	unsigned from, to;
	char group[LABEL];
	char heads[MOST][LABEL];	/* names of the statistics */
	uint64_t sums[MOST];		/* of all queues */
	unsigned nr;
	struct grid grid;
};

static void text_of(const struct lane *p, unsigned row, unsigned nr, char *text)
{
	key_text(p->m, key_of(p->m, p->t, row), nr, text, LABEL);
}

static bool minor(const struct lane *p, unsigned row)
{
	return key_minor(p->m, key_of(p->m, p->t, row));
}

static bool bytes(const char *head)
{
	size_t len = strlen(head);

	return len >= 5 && !strcmp(head + len - 5, "bytes");
}

static void value_text(const struct lane *p, const char *head, uint64_t value, char *text)
{
	units_rate(text, UNITS_SIZE, value, value, bytes(head) ? "bytes" : "events",
		   rates(p->s) ? table_seconds(p->s, p->m) : 0);
}

/* "rx_packets" in the group "rx" becomes "packets". */
static const char *short_name(const struct lane *p, const char *name)
{
	size_t len = strlen(p->group);

	return strncmp(name, p->group, len) || name[len] != '_' ? name : name + len + 1;
}

/* The column of a row; -1: none, as the statistic is 0 in all rows. */
static int column_of(const struct lane *p, unsigned row)
{
	char name[LABEL];

	text_of(p, row, ACROSS, name);
	for (unsigned i = 0; i < p->nr; i++)
		if (!strcmp(p->heads[i], name))
			return i;
	return -1;
}

/* Collects the names of statistics that counted something, in the order of their keys. */
static void heads_find(struct lane *p)
{
	for (unsigned row = p->from; row < p->to; row++) {
		char name[LABEL];

		if (minor(p, row) || row_idle(p->m, p->t, row, 0) || column_of(p, row) >= 0 ||
		    p->nr == MOST)
			continue;
		text_of(p, row, ACROSS, name);
		strcpy(p->heads[p->nr++], name);
	}
}

static void columns_add(struct lane *p)
{
	for (int i = 0; i < 2; i++) {
		struct column *c = grid_column(&p->grid, 0, "");

		if (c)
			c->left = true;
	}
	for (unsigned i = 0; i < p->nr; i++) {
		char head[48];
		struct column *c;

		snprintf(head, sizeof(head), "%.40s%s", short_name(p, p->heads[i]),
			 rates(p->s) ? "/s" : "");
		for (char *at = head; *at; at++)
			*at = *at == '_' ? ' ' : *at;
		c = grid_column(&p->grid, i ? 1 + i / 4 : 0, head);
		if (c)
			c->say = true;
	}
}

static bool is_queue(const char *line)
{
	return *line >= '0' && *line <= '9';
}

/* One queue. The cell is empty if the queue lacks the statistic, 0 if it counted nothing. */
static void line_put(struct lane *p, unsigned from, unsigned to, const char *line, bool first)
{
	char text[LABEL + UNITS_SIZE];
	bool any = false;

	for (unsigned row = from; row < to; row++)
		any |= !row_idle(p->m, p->t, row, 0) && !minor(p, row);
	if (!any)
		return;
	grid_line(&p->grid);
	if (first)
		grid_cell(&p->grid, 0, p->group);
	snprintf(text, sizeof(text), "%s%s", is_queue(line) ? "q" : "", line);
	grid_cell(&p->grid, 1, text);
	for (unsigned row = from; row < to; row++) {
		int column = minor(p, row) ? -1 : column_of(p, row);

		if (column < 0)
			continue;
		value_text(p, p->heads[column], p->t->cells[row], text);
		grid_cell(&p->grid, 2 + column, text);
		if (is_queue(line))
			p->sums[column] += p->t->cells[row];
	}
}

static void total_put(struct lane *p)
{
	char text[UNITS_SIZE];

	grid_line(&p->grid);
	grid_cell(&p->grid, 1, "total");
	for (unsigned i = 0; i < p->nr; i++) {
		value_text(p, p->heads[i], p->sums[i], text);
		if (p->sums[i])
			grid_cell(&p->grid, 2 + i, text);
	}
}

static void lines_put(struct lane *p)
{
	unsigned queues = 0, before = p->grid.nr_lines;

	for (unsigned from = p->from, to; from < p->to; from = to) {
		char line[LABEL], next[LABEL] = "";
		unsigned had = p->grid.nr_lines;

		text_of(p, from, LINE, line);
		for (to = from + 1; to < p->to; to++) {
			text_of(p, to, LINE, next);
			if (strcmp(next, line))
				break;
		}
		if (!is_queue(line) && queues > 1)
			total_put(p);
		if (!is_queue(line))
			queues = 0;
		line_put(p, from, to, line, had == before);
		queues += is_queue(line) && p->grid.nr_lines > had;
	}
	if (queues > 1)
		total_put(p);
}

static void part_print(struct lane *p, struct page *page)
{
	heads_find(p);
	if (!p->nr)
		return;
	columns_add(p);
	if (!p->grid.short_of_memory)
		lines_put(p);
	grid_print(&p->grid, page);
	grid_free(&p->grid);
}

static int by_value(const void *a, const void *b, void *arg)
{
	const struct lane *p = arg;
	uint64_t x = p->t->cells[*(const unsigned *)a], y = p->t->cells[*(const unsigned *)b];

	return x == y ? 0 : x < y ? 1 : -1;
}

static void minor_line(struct lane *p, unsigned row)
{
	char name[LABEL], text[LABEL + UNITS_SIZE];

	grid_line(&p->grid);
	text_of(p, row, ACROSS, name);
	grid_cell(&p->grid, 0, name);
	value_text(p, name, p->t->cells[row], text);
	grid_cell(&p->grid, 1, text);
	text_of(p, row, LINE, text);
	if (is_queue(text))
		grid_cell(&p->grid, 2, text);
}

/* Statistics known only by the driver's own names: the largest, and the number of others. */
static void minor_list(struct lane *p, struct page *page, unsigned *rows, unsigned nr)
{
	struct column *c;
	bool queues = false;
	char more[96];

	qsort_r(rows, nr, sizeof(*rows), by_value, p);
	c = grid_column(&p->grid, 0, "driver's own name");
	if (c)
		c->left = true;
	grid_column(&p->grid, 0, rates(p->s) ? "value/s" : "value");
	for (unsigned i = 0; i < nr && i < MINOR; i++) {
		text_of(p, rows[i], LINE, more);
		queues |= is_queue(more);
	}
	if (queues)
		grid_column(&p->grid, 1, "queue");
	for (unsigned i = 0; i < nr && i < MINOR && !p->grid.short_of_memory; i++)
		minor_line(p, rows[i]);
	if (nr > MINOR) {
		snprintf(more, sizeof(more), "and %u smaller ones; -j shows all", nr - MINOR);
		grid_line(&p->grid);
		grid_span(&p->grid, 0, more);
	}
	grid_print(&p->grid, page);
	grid_free(&p->grid);
}

/* There can be hundreds: only their number is shown unless the meter was requested by name. */
static bool minor_print(struct lane *p, struct page *page)
{
	bool named = p->s->meta.on & ~p->s->wanted;
	unsigned *rows = malloc((p->t->rows + 1) * sizeof(*rows)), nr = 0;

	if (!rows)
		return false;
	for (unsigned row = 0; row < p->t->rows; row++)
		if (minor(p, row) && !row_idle(p->m, p->t, row, 0))
			rows[nr++] = row;
	if (nr && named)
		minor_list(p, page, rows, nr);
	else if (nr)
		page_dim(page, 2, text("and %u more under the driver's own names: nicprobe show "
				       "%s %s", nr, p->s->name, p->m->name));
	free(rows);
	return true;
}

bool across(struct page *page, const struct snapshot *s, const struct meter *m)
{
	const struct table *t = &s->tables[meter_id(m)];
	struct lane *p = malloc(sizeof(*p));
	bool done = p;

	for (unsigned from = 0, to; p && from < t->rows; from = to) {
		char group[LABEL];

		*p = (struct lane){ .s = s, .m = m, .t = t, .from = from };
		text_of(p, from, GROUP, p->group);
		for (to = from + 1; to < t->rows; to++) {
			text_of(p, to, GROUP, group);
			if (strcmp(group, p->group))
				break;
		}
		p->to = to;
		part_print(p, page);
	}
	if (p) {
		*p = (struct lane){ .s = s, .m = m, .t = t };
		done = minor_print(p, page);
	}
	free(p);
	return done;
}
