/* SPDX-License-Identifier: GPL-2.0 */
/* A histogram as bars: the present window, beside what was a minute ago. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/log.h"
#include "render/units.h"
#include "top/cells.h"
#include "top/histogram.h"
#include "top/values.h"

/* Neighbouring slots as one line. */
struct bin {
	double upto;			/* inclusive; INFINITY */
	double above;			/* of the last one: what it begins after */
	uint64_t now, ago;
};

/* Two lines for each power of two, as 200 lines would tell less. */
static bool goes_with(const struct metric *k, const struct bin *b, double bound)
{
	double upto = b->upto / k->scale, next = bound / k->scale;

	if (metric_classes(k) || isinf(bound) || next <= 4)
		return false;
	return ceil(2 * log2(upto) - 1e-9) == ceil(2 * log2(next) - 1e-9);
}

static unsigned bins_make(const struct metric *k, const uint64_t *now, const uint64_t *ago,
			  struct bin *bins)
{
	unsigned nr = 0, first = 0;

	for (unsigned i = 0; i < hist_slots(k); i++) {
		double bound = hist_bound(k, i);

		if (nr && goes_with(k, &bins[nr - 1], bound))
			bins[nr - 1].upto = bound;
		else
			bins[nr++] = (struct bin){ bound, hist_floor(k, i), 0, 0 };
		bins[nr - 1].now += now[1 + i];
		bins[nr - 1].ago += ago ? ago[1 + i] : 0;
	}
	while (nr && !bins[nr - 1].now && !bins[nr - 1].ago)
		nr--;
	while (first < nr && !bins[first].now && !bins[first].ago)
		first++;
	memmove(bins, bins + first, (nr - first) * sizeof(*bins));
	return nr - first;
}

static const char *bound_text(const struct ui *ui, const struct metric *k, const struct bin *b)
{
	char t[UNITS_SIZE];

	units_any(t, isinf(b->upto) ? b->above : b->upto, k->unit);
	return text("%s %s", isinf(b->upto) ? ">" : ui->look.utf8 ? "≤" : "<=", t);
}

static const char *part_text(uint64_t part, uint64_t whole, bool utf8)
{
	char t[UNITS_SIZE];

	units_percent(t, part, whole, utf8 ? "·" : ".");
	return text("%s", t);
}

static void bars(const struct ui *ui, struct doc *d, const struct metric *k, const uint64_t *now,
		 const uint64_t *ago, const char *when)
{
	struct bin *bins = calloc(hist_slots(k) + 1, sizeof(*bins));
	unsigned nr = bins ? bins_make(k, now, ago, bins) : 0, wide = d->page.width;
	uint64_t all = hist_count(k, now), before = ago ? hist_count(k, ago) : 0, most = 0;
	uint64_t most_ago = 0;
	unsigned bar = ago ? (wide > 46 ? (wide - 36) / 2 : 5) : wide > 30 ? wide - 24 : 6;
	struct grid g = {};
	const char *heads[] = { k->unit, "", "now", "", when };

	for (unsigned i = 0; i < nr; i++) {
		most = bins[i].now > most ? bins[i].now : most;
		most_ago = bins[i].ago > most_ago ? bins[i].ago : most_ago;
	}
	for (unsigned i = 0; i < (ago ? 5 : 3); i++) {
		struct column *c = grid_column(&g, 0, heads[i]);

		if (c)
			c->left = i == 2 || i == 4;
	}
	for (unsigned i = 0; i < nr; i++) {
		struct bin *b = &bins[i];

		grid_line(&g);
		grid_cell(&g, 0, bound_text(ui, k, b));
		grid_cell(&g, 1, part_text(b->now, all, ui->look.utf8));
		grid_cell(&g, 2, cell_bar(ui, most ? (double)b->now / most : 0, bar));
		if (!ago)
			continue;
		grid_cell(&g, 3, part_text(b->ago, before, ui->look.utf8));
		grid_cell(&g, 4, cell_bar(ui, most_ago ? (double)b->ago / most_ago : 0, bar));
	}
	if (g.nr > 2 && g.columns[2].width < bar)	/* the bars of both begin where they did */
		g.columns[2].width = bar;
	grid_print(&g, &d->page);
	grid_free(&g);
	free(bins);
}

static const char *summary(const struct metric *k, const uint64_t *words)
{
	char p50[UNITS_SIZE], p99[UNITS_SIZE];

	units_any(p50, hist_percentile(k, words, .5), k->unit);
	units_any(p99, hist_percentile(k, words, .99), k->unit);
	return text("%s, p50 %s, p99 %s", cell_count(hist_count(k, words)), p50, p99);
}

static bool one(const struct ui *ui, struct doc *d, const struct both *b, const struct meter *m,
		const struct metric *k, int queue, unsigned point)
{
	uint64_t *now = calloc(k->words, sizeof(*now)), *ago = calloc(k->words, sizeof(*ago));
	bool has_now = now && words_of_queue(b->now, m, k, queue, point, now) &&
		       hist_count(k, now);
	bool has_ago = ago && b->ago && words_of_queue(b->ago, m, k, queue, point, ago) &&
		       hist_count(k, ago);
	const char *when = text("%.0f to %.0f s ago", b->from, b->to);

	if (has_now || has_ago) {
		char name[64];

		snprintf(name, sizeof(name), "%s", k->name);
		for (char *c = name; *c; c++)
			*c = *c == '_' ? ' ' : *c;
		doc_section(d, text("%s %s%s%s", m->name, name, point < NR_POINTS ? " at " : "",
				    point < NR_POINTS ? point_names[point] : ""), k->help);
		if (has_now)
			page_remark(&d->page, 2, text("now: %s", summary(k, now)));
		if (has_ago)
			page_remark(&d->page, 2, text("%s: %s", when, summary(k, ago)));
		bars(ui, d, k, now, b->ago ? ago : NULL, when);
	}
	free(now);
	free(ago);
	return has_now || has_ago;
}

bool histograms(const struct ui *ui, struct doc *d, const struct both *b, const struct meter *m,
		int queue, enum shown shown)
{
	bool any = false;

	if (!b->now->tables[meter_id(m)].cells)
		return false;
	for_each_metric(k, m) {
		if (k->kind != KIND_HISTOGRAM ||
		    (shown != SHOWN_ALL && is_latency(k) != (shown == SHOWN_TIMES)))
			continue;
		for (unsigned point = 0; m->by & BY_POINT && point < NR_POINTS; point++)
			any |= one(ui, d, b, m, k, queue, point);
		if (!(m->by & BY_POINT))
			any |= one(ui, d, b, m, k, queue, NR_POINTS);
	}
	return any;
}
