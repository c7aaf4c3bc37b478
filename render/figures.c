/* SPDX-License-Identifier: GPL-2.0 */
/* The table columns of a metric: one for each figure derived from it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/read/derived.h"
#include "lib/util/grow.h"
#include "render/figures.h"
#include "render/units.h"

/* The order in which columns are dropped when there is no room: highest first, 0 never. */
enum drop {
	KEEP, COUNTED, MEDIAN, SHARES, EVENTS, BYTES, MAXIMUM, TENTH, THOUSANDTH, MEAN, NOTHING
};

/* An amount of the unit in the window, from `n` counted things. */
static void rate_text(const struct figures *f, double x, uint64_t n, const char *unit, char *t)
{
	units_rate(t, FIGURE_SIZE, x, n, unit, rates(f->s) ? f->seconds : 0);
}

static void count_text(const struct figures *f, const struct figure *c, const uint64_t *w, char *t)
{
	uint64_t n = hist_count(c->metric, w);

	rate_text(f, n, n, "", t);
}

static void sum_text(const struct figures *f, const struct figure *c, const uint64_t *w, char *t)
{
	rate_text(f, w[0] * c->metric->scale, hist_count(c->metric, w), c->metric->unit, t);
}

static bool sized(const struct metric *k)
{
	return !strcmp(k->unit, "bytes");
}

static void mean_text(const struct figures *f, const struct figure *c, const uint64_t *w, char *t)
{
	uint64_t count = hist_count(c->metric, w);
	double mean = count ? w[0] * c->metric->scale / count : 0;

	(void)f;
	if (count)	/* no fractions of bytes */
		units_any(t, sized(c->metric) ? round(mean) : mean, c->metric->unit);
	else
		strcpy(t, "-");
}

static void class_text(const struct figures *f, const struct figure *c, const uint64_t *w, char *t)
{
	units_percent(t, w[1 + c->arg], hist_count(c->metric, w), f->look->utf8 ? "·" : ".");
}

static void bars_text(const struct figures *f, const struct figure *c, const uint64_t *w, char *t)
{
	static const char *const bars[] = { "·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const digits[] = { ".", "1", "2", "3", "4", "5", "6", "7", "8", "9" };
	unsigned steps = f->look->utf8 ? 8 : 9, slots = hist_slots(c->metric);
	uint64_t most = 0;

	for (unsigned i = 0; i < slots; i++)
		if (w[1 + i] > most)
			most = w[1 + i];
	*t = '\0';
	for (unsigned i = 0; i < slots && strlen(t) + 4 < FIGURE_SIZE; i++) {
		unsigned height = w[1 + i] ? ceil((double)w[1 + i] / most * steps) : 0;

		strcat(t, (f->look->utf8 ? bars : digits)[height]);
	}
}

/* Beyond the last bound, a time is only known to exceed it: ">". */
static void bound_text(const struct metric *k, const uint64_t *w, double x, char *t)
{
	unsigned last = hist_slots(k) - 1;
	bool more = w[1 + last] && x >= hist_floor(k, last);

	*t = '>';
	if (isnan(x))
		strcpy(t, "-");
	else
		units_any(t + more, x, k->unit);
}

static void percentile_text(const struct figures *f, const struct figure *c, const uint64_t *w,
			    char *t)
{
	(void)f;
	bound_text(c->metric, w, hist_percentile(c->metric, w, c->p), t);
}

static void max_text(const struct figures *f, const struct figure *c, const uint64_t *w, char *t)
{
	(void)f;
	bound_text(c->metric, w, hist_max(c->metric, w), t);
}

static void word_text(const struct figures *f, const struct figure *c, const uint64_t *w, char *t)
{
	if (c->metric->rare && !w[c->arg])
		*t = '\0';
	else	/* whether bytes are too few for a rate depends on their packets */
		rate_text(f, w[c->arg] * c->metric->scale,
			  sized(c->metric) ? row_weight(f->m, w - c->metric->at) : w[c->arg],
			  c->metric->unit, t);
}

static void per_packet_text(const struct figures *f, const struct figure *c, const uint64_t *w,
			    char *t)
{
	units_count(t, *w * c->metric->scale / snapshot_packets(f->s));
}

static void level_text(const struct figures *f, const struct figure *c, const uint64_t *w, char *t)
{
	(void)f;
	units_any(t, level_of(w) * c->metric->scale, c->metric->unit);
}

/*
 * "-12", "0 ±3", "13…80": counters that are not read at the same moment leave an uncertainty.
 * "?": the uncertainty exceeds the count itself.
 */
static void residue_text(const struct figures *f, const struct figure *c, const uint64_t *w,
			 char *t)
{
	char is[UNITS_SIZE], off[UNITS_SIZE];
	uint64_t within;
	int64_t n = residue_of(c->metric, w, &within);

	*t = '\0';
	if (c->metric->rare && !n && !within)
		return;
	units_any(is, n < 0 ? -(double)n : n, c->metric->unit);
	units_any(off, within, c->metric->unit);
	if (c->metric->of && within > w[(int)c->metric->of - (int)c->metric->at]) {
		snprintf(t, FIGURE_SIZE, "?");
		return;
	}
	snprintf(t, FIGURE_SIZE, "%s%s", n < 0 ? "-" : "", is);
	if (within && !n)
		snprintf(t + strlen(t), 2 * UNITS_SIZE, "%s%s", f->look->utf8 ? " ±" : " +-", off);
	if (!within || !n)
		return;
	units_any(off, (n < 0 ? -(double)n : n) + within, c->metric->unit);
	snprintf(t + strlen(t), 2 * UNITS_SIZE, "%s%s%s", f->look->utf8 ? "…" : "..",
		 n < 0 ? "-" : "", off);
}

static bool any_residue(const struct metric *k, const uint64_t *w)
{
	uint64_t within;

	return residue_of(k, w, &within);
}

/* "in_flight" becomes "in flight"; with "/s" if it is a rate. */
static void title(const struct figures *f, const char *name, bool rate, char *to, size_t size)
{
	snprintf(to, size, "%s%s", name, rate && rates(f->s) ? "/s" : "");
	for (char *c = to; *c; c++)
		if (*c == '_')
			*c = ' ';
}

static struct column *add(struct figures *f, struct grid *g, const struct figure *one,
			  unsigned char drop, const char *head)
{
	struct figure *list = grow(f->list, f->nr, sizeof(*list));

	if (!list) {
		g->short_of_memory = true;
		return NULL;
	}
	f->list = list;
	list[f->nr++] = *one;
	return grid_column(g, drop, head);
}

void figures_class(const struct look *look, const struct metric *k, unsigned slot, char *t,
		   size_t size)
{
	bool last = isinf(hist_bound(k, slot));
	double bound = last ? hist_floor(k, slot) : hist_bound(k, slot);
	const char *sign = last ? ">" : slot ? "-" : look->utf8 ? "≤" : "<=";

	if (bound >= 10000 && fmod(bound + 1, 1024) == 0)
		snprintf(t, size, "%s%.0fk", sign, (bound + 1) / 1024);
	else
		snprintf(t, size, "%s%.0f", sign, bound);
}

static void bars_column(struct figures *f, struct grid *g, const struct metric *k)
{
	char first[16], last[16], head[48];
	unsigned slots = hist_slots(k), wide;
	struct column *c;

	figures_class(f->look, k, 0, first, sizeof(first));
	figures_class(f->look, k, slots - 1, last, sizeof(last));
	wide = text_columns(first) + text_columns(last);
	snprintf(head, sizeof(head), "%s%*s%s", first, slots > wide ? (int)(slots - wide) : 1, "",
		 last);
	f->bars = g->nr;
	c = add(f, g, &(struct figure){ k, bars_text, 0, 0 }, SHARES, head);
	if (c)
		c->left = true;
}

/* "packet_size" counts "packets"; without "_size", the heading is "count". */
static void counted_name(const struct figures *f, const struct metric *k, char *t, size_t size)
{
	const char *end = strstr(k->name, "_size");
	char name[48] = "count";

	if (end && !strcmp(end, "_size"))
		snprintf(name, sizeof(name), "%.*ss", (int)(end - k->name), k->name);
	title(f, name, true, t, size);
}

static void sizes(struct figures *f, struct grid *g, const struct metric *k)
{
	const uint64_t *all = f->all + k->at;
	struct column *c;
	char head[48];

	counted_name(f, k, head, sizeof(head));
	add(f, g, &(struct figure){ k, count_text, 0, 0 }, COUNTED, head);
	title(f, k->unit, true, head, sizeof(head));
	add(f, g, &(struct figure){ k, sum_text, 0, 0 }, BYTES, head);
	/* if the unit is not bytes, the mean is the main figure: packets per buffer */
	add(f, g, &(struct figure){ k, mean_text, 0, 0 }, sized(k) ? MEAN : KEEP, "mean");
	if (f->room == ROOM_LITTLE) {
		bars_column(f, g, k);
		return;
	}
	for (unsigned i = 0; i < hist_slots(k); i++) {
		if (!all[1 + i])
			continue;
		figures_class(f->look, k, i, head, sizeof(head));
		c = add(f, g, &(struct figure){ k, class_text, i, 0 }, SHARES, head);
		if (c)
			c->tight = f->room == ROOM_SOME;
	}
}

/* Of several histograms, those without samples are left out: they would only show dashes. */
static bool worth_room(const struct figures *f, const struct meter *m, const struct metric *k)
{
	unsigned histograms = 0;

	for_each_metric(other, m)
		histograms += other->kind == KIND_HISTOGRAM;
	return (histograms == 1 && k == m->metrics) || hist_count(k, f->all + k->at);
}

static void latencies(struct figures *f, struct grid *g, const struct meter *m,
		      const struct metric *k)
{
	static const struct {
		const char *head;
		double p;
		unsigned char drop;
	} list[] = {
		{ "p50", .5, MEDIAN }, { "p90", .9, TENTH }, { "p99", .99, KEEP },
		{ "p99.9", .999, THOUSANDTH },
	};
	unsigned first = g->nr;
	char head[48];

	if (!worth_room(f, m, k))
		return;
	title(f, "count", true, head, sizeof(head));
	add(f, g, &(struct figure){ k, count_text, 0, 0 }, COUNTED, head);
	add(f, g, &(struct figure){ k, mean_text, 0, 0 }, MEAN, "mean");
	/* for times, p99 is kept longest; for counts, the maximum */
	for (unsigned i = 0; i < sizeof(list) / sizeof(*list); i++)
		add(f, g, &(struct figure){ k, percentile_text, 0, list[i].p },
		    list[i].drop == KEEP && k->steps ? MAXIMUM : list[i].drop, list[i].head);
	add(f, g, &(struct figure){ k, max_text, 0, 0 }, k->steps ? KEEP : MAXIMUM, "max");
	title(f, k->name, false, head, sizeof(head));
	for (unsigned i = first; i < g->nr; i++)
		strcpy(g->columns[i].group, head);
}

/* A list of so many labels shows only what happened, also where there is room for more. */
#define MANY_LABELS 20

static void labelled(struct figures *f, struct grid *g, const struct metric *k)
{
	/* a loss is what most users look for: it outlasts percentiles */
	bool lost = k->group && k->rare && !strcmp(k->unit, "packets");
	const uint64_t *all = f->all + k->at;

	for (unsigned i = 0; i < k->words; i++) {
		struct column *c;

		if (k->rare && k->words > MANY_LABELS && !all[i])
			continue;
		c = add(f, g, &(struct figure){ k, word_text, i, 0 },
			!all[i] ? NOTHING : lost ? COUNTED : EVENTS, k->labels[i]);
		if (!c)
			return;
		c->say = all[i];
		title(f, k->name, true, c->group, sizeof(c->group));
	}
}

/*
 * How soon the column of a number is dropped. In a grouped account (the ledger), rare columns are
 * the interesting ones: a note names them if they are dropped.
 */
static unsigned char leaves(const struct metric *k, bool keep, bool any)
{
	bool residue = k->kind == KIND_RESIDUE;

	if (k->group && sized(k))
		return residue ? EVENTS : k->rare ? THOUSANDTH : BYTES;
	if (keep || (residue && !k->rare))
		return KEEP;
	if (k->group && !k->rare)
		return MEDIAN;
	return any ? EVENTS : NOTHING;
}

/* A number: a counter, a gauge, a discrepancy. */
static void plain(struct figures *f, struct grid *g, const struct meter *m, const struct metric *k)
{
	static void (*const texts[])(const struct figures *, const struct figure *,
				     const uint64_t *, char *) = {
		[KIND_COUNTER] = word_text, [KIND_LEVEL] = level_text,
		[KIND_RESIDUE] = residue_text,
	};
	const uint64_t *all = f->all + k->at;
	bool only = !m->metrics[1].name, residue = k->kind == KIND_RESIDUE;
	bool any = residue ? any_residue(k, all) : k->kind == KIND_LEVEL ? level_of(all) : *all;
	bool keep = only || (m->by & BY_KEY && k == m->metrics && !k->rare);
	struct column *c;
	char head[48];

	if (k->rare && (!any || (k->like_first && *all == f->all[m->metrics->at])))
		return;
	title(f, k->name, k->kind == KIND_COUNTER && !k->group, head, sizeof(head));
	c = add(f, g, &(struct figure){ k, texts[k->kind], 0, 0 },
		leaves(k, keep, any), head);
	if (!c)
		return;
	c->say = any && (!k->group || (k->rare && !sized(k)));
	if (k->group)
		title(f, k->group, true, c->group, sizeof(c->group));
	if (k->per_packet && snapshot_packets(f->s))
		add(f, g, &(struct figure){ k, per_packet_text, 0, 0 }, SHARES, "/packet");
}

void figures_columns(struct figures *f, struct grid *g, const struct meter *m)
{
	for_each_metric(k, m)
		if (k->kind == KIND_HISTOGRAM && metric_classes(k))
			sizes(f, g, k);
		else if (k->kind == KIND_HISTOGRAM)
			latencies(f, g, m, k);
		else if (k->label)
			labelled(f, g, k);
		else
			plain(f, g, m, k);
}

void figures_fill(const struct figures *f, struct grid *g, unsigned column, const uint64_t *row)
{
	for (unsigned i = 0; i < f->nr; i++) {
		char text[FIGURE_SIZE];

		if (g->columns[column + i].gone)
			continue;
		f->list[i].text(f, &f->list[i], row + f->list[i].metric->at, text);
		grid_cell(g, column + i, text);
	}
}

void figures_legend(const struct meter *m, const struct look *look, char *legend, size_t size)
{
	size_t len = 0;

	*legend = '\0';
	for_each_metric(k, m) {
		if (k->kind != KIND_HISTOGRAM || !metric_classes(k) || len >= size)
			continue;
		len += snprintf(legend + len, size - len, "bars, by %s:", k->unit);
		for (unsigned i = 0; i < hist_slots(k) && len < size; i++) {
			char name[16];

			figures_class(look, k, i, name, sizeof(name));
			len += snprintf(legend + len, size - len, " %s", name);
		}
	}
}
