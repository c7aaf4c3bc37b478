/* SPDX-License-Identifier: GPL-2.0 */
/* Texts of single values, as the cells of tables have them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/log.h"
#include "render/units.h"
#include "top/cells.h"

const char *cell_count(double x)
{
	char t[UNITS_SIZE];

	if (isnan(x))
		return "-";
	units_count(t, x);
	return text("%s", t);
}

const char *cell_seconds(double x)
{
	char t[UNITS_SIZE];

	if (isnan(x))
		return "-";
	if (isinf(x))
		return ">17 s";
	units_seconds(t, x);
	return text("%s", t);
}

const char *cell_share(double part)
{
	if (isnan(part))
		return "-";
	if (part > 0 && part < .005)
		return "<1%";
	return text("%.0f%%", part >= .995 && part < 1 ? 99. : 100 * part);
}

const char *cell_percent(double x)
{
	return isnan(x) ? "-" : x > 0 && x < .005 ? "<0.01%" : text("%.2f%%", x);
}

const char *cell_spark(const struct ui *ui, const struct top_iface *w, enum past_kind kind,
		       unsigned of, unsigned sub, unsigned width)
{
	static char spark[3 * SPAN + 4];

	if (width > SPAN)
		width = SPAN;
	past_spark(&w->past, past_find(&w->past, kind, of, sub), width, SPAN, ui->look.utf8, spark,
		   sizeof(spark));
	return spark;
}

const char *cell_bar(const struct ui *ui, double part, unsigned width)
{
	static char bar[3 * 200 + 4];

	past_bar(isnan(part) ? 0 : part, width < 200 ? width : 200, ui->look.utf8, bar,
		 sizeof(bar));
	return bar;
}

const char *found_text(const struct top_iface *w, const struct found *found)
{
	if (!w->attached)
		return w->up ? "not attached" : "down";
	if (!w->window.interval)
		return "";
	return found->nr ? text("%u %s", found->nr, severity_names[found->worst]) : "none";
}

unsigned found_style(const struct top_iface *w, const struct found *found)
{
	if (!w->attached)
		return CELL_DIM;
	if (!found->nr || found->worst == SEVERITY_INFO)
		return 0;
	return found->worst == SEVERITY_CRITICAL ? CELL_RED : CELL_YELLOW;
}

const char *span_text(const struct ui *ui)
{
	char t[UNITS_SIZE], *none;

	units_duration(t, SPAN * ui->interval);
	none = strstr(t, " 0 s") ?: strstr(t, " 0 min");
	if (none)
		*none = '\0';
	return text("last %s", t);
}

static int by_key(const void *a, const void *b, void *arg)
{
	const struct row_order *x = a, *y = b;
	const struct ui_sort *sort = arg;
	double one, other;
	int order;

	if (sort->by < 0)
		return (x->nr > y->nr) - (x->nr < y->nr);
	one = x->keys[sort->by];
	other = y->keys[sort->by];
	if (!sort->by)
		order = x->name && y->name ? strverscmp(x->name, y->name) :
			(one > other) - (one < other);
	else if (isnan(one) || isnan(other))
		return isnan(one) && isnan(other) ? (x->nr > y->nr) - (x->nr < y->nr) :
		       isnan(one) ? 1 : -1;
	else
		order = (other > one) - (other < one);
	order = sort->reverse ? -order : order;
	return order ?: (x->nr > y->nr) - (x->nr < y->nr);
}

void rows_sort(struct row_order *rows, unsigned nr, const struct ui_sort *sort)
{
	if (nr)
		qsort_r(rows, nr, sizeof(*rows), by_key, (void *)sort);
}

void heads_add(struct grid *g, const struct head *heads, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++) {
		struct column *c = grid_column(g, heads[i].drop, heads[i].head);

		if (!c)
			return;
		c->left = heads[i].left;
		snprintf(c->group, sizeof(c->group), "%s", heads[i].group);
	}
}

void heads_mark(const struct ui_sort *sort, struct grid *g, const struct look *look)
{
	for (unsigned i = 0; i < g->nr; i++) {
		char head[sizeof(g->columns[i].head)];
		bool by = (int)i == sort->by;
		const char *up = look->utf8 ? "▲" : "^", *down = look->utf8 ? "▼" : "v";

		if (!by || !*g->columns[i].head)
			continue;
		snprintf(head, sizeof(head), "%.*s%s", (int)sizeof(head) - 5, g->columns[i].head,
			 (!i) == sort->reverse ? down : up);
		strcpy(g->columns[i].head, head);
		if (text_columns(head) > g->columns[i].width)
			g->columns[i].width = text_columns(head);
	}
}
