/* SPDX-License-Identifier: GPL-2.0 */
/* Takes from a window what the charts show: one chart for each figure that its meters have. */
#include <stdlib.h>
#include <string.h>

#include "lib/core/key.h"
#include "lib/util/grow.h"
#include "lib/util/log.h"
#include "render/figures.h"
#include "report/course.h"

/* A window that is taken into the charts. */
struct sampling {
	struct course *c;
	const struct snapshot *s;
	int slice;			/* -1: of the whole, which makes the charts */
	bool step;			/* a frame of the slice: only its rates, for the peaks */
	unsigned at;			/* the chart that was found last: they come in one order */
	/* what is taken now */
	int meter, point;
	double seconds;
};

static const double percentiles[] = { .5, .9, .99, 1 };
static const char *const percentile_names[] = { "p50", "p90", "p99", "max" };

/* The chart of this kind; in the whole window it is made. NULL: there is none. */
static struct chart *chart_of(struct sampling *g, enum chart_of of, const struct metric *k,
			      const char *unit, bool rate, bool own)
{
	int metric = k ? k - meters[g->meter]->metrics : -1;
	struct course *c = g->c;
	struct chart *list, *h;

	for (unsigned i = 0; i < c->nr_charts; i++) {
		h = &c->charts[(g->at + i) % c->nr_charts];
		if (h->of != of || h->meter != g->meter || h->point != g->point ||
		    h->metric != metric || strncmp(h->unit, unit, sizeof(h->unit) - 1))
			continue;
		g->at = h - c->charts;
		return h;
	}
	if (g->slice >= 0)
		return NULL;
	list = grow(c->charts, c->nr_charts, sizeof(*list));
	if (!list) {
		c->short_of_memory = true;
		return NULL;
	}
	c->charts = list;
	h = &list[c->nr_charts];
	*h = (struct chart){ .of = of, .meter = g->meter, .point = g->point, .metric = metric,
			     .rate = rate, .own_unit = own };
	snprintf(h->unit, sizeof(h->unit), "%s", unit);
	name_chart(h, k ?: of == OF_ROWS ? meters[g->meter]->metrics : NULL);
	g->at = c->nr_charts++;
	return h;
}

/* The track of a key, or of an id: those without keys are in the order of their ids. */
static struct track *track_find(struct chart *h, unsigned id, const void *key, size_t size)
{
	unsigned from = 0, to = h->nr;

	for (unsigned i = 0; key && i < h->nr; i++)
		if (!memcmp(h->tracks[i].key, key, size))
			return &h->tracks[i];
	while (!key && from < to) {
		unsigned mid = (from + to) / 2;

		if (h->tracks[mid].id == id)
			return &h->tracks[mid];
		if (h->tracks[mid].id < id)
			from = mid + 1;
		else
			to = mid;
	}
	return NULL;
}

static struct track *track_make(struct course *c, struct chart *h, unsigned id, const void *key,
				size_t size)
{
	struct track *list = grow(h->tracks, h->nr, sizeof(*list)), *t;

	if (!list) {
		c->short_of_memory = true;
		return NULL;
	}
	h->tracks = list;
	t = &list[h->nr];
	*t = (struct track){ .id = id, .queue = -1, .key = key ? malloc(size) : NULL };
	if (key && !t->key) {
		c->short_of_memory = true;
		return NULL;
	}
	if (key)
		memcpy(t->key, key, size);
	h->nr++;
	return t;
}

/* One value; of the whole window it makes the track, which is returned to be named. */
static struct track *put(struct sampling *g, struct chart *h, unsigned id, const void *key,
			 double value)
{
	size_t size = meters[g->meter]->key.size;
	struct track *t;

	if (!h || isnan(value))
		return NULL;
	if (g->slice < 0) {
		t = track_make(g->c, h, id, key, size);
		if (t)
			t->total = value;
		return t;
	}
	t = track_find(h, id, key, size);
	if (t && !g->step)
		t->mean[g->slice] = value;
	else if (t && t->peak && value > t->peak[g->slice])
		t->peak[g->slice] = value;
	return NULL;
}

static void put_named(struct sampling *g, struct chart *h, unsigned id, double value,
		      const char *label)
{
	struct track *t = put(g, h, id, NULL, value);

	if (t)
		snprintf(t->label, sizeof(t->label), "%s", label);
}

static void label_add(struct track *t, const char *before, const char *word)
{
	size_t at = strlen(t->label);

	snprintf(t->label + at, sizeof(t->label) - at, "%s%s%s", at ? " " : "", before, word);
}

/* The parts of its key; the queue first, so that no label that is cut lacks it. */
static void key_name(const struct meter *m, struct track *t)
{
	char word[96];

	for (unsigned i = 0; m->key.labels[i]; i++) {
		if (strcmp(m->key.labels[i], "queue"))
			continue;
		key_text(m, t->key, i, word, sizeof(word));
		t->queue = *word >= '0' && *word <= '9' ? atoi(word) : -1;
		label_add(t, t->queue >= 0 ? "q" : "queue ", word);
	}
	for (unsigned i = 0; m->key.labels[i]; i++) {
		if (!strcmp(m->key.labels[i], "queue"))
			continue;
		key_text(m, t->key, i, word, sizeof(word));
		label_add(t, "", word);
	}
}

static void row_name(struct sampling *g, struct track *t, unsigned row, unsigned cpu)
{
	const struct meter *m = meters[g->meter];

	if (m->by & BY_QUEUE) {
		t->queue = place_of(g->s, m, row).queue;
		label_add(t, "q", t->queue < 0 ? "?" : text("%d", t->queue));
	}
	if (m->by & BY_CPU)
		label_add(t, "cpu", text("%u", cpu));
	if (m->by & BY_KEY)
		key_name(m, t);
	if (!*t->label)
		label_add(t, "", "all");
}

/* The main count of a row: of one with labels, all of them. */
static double weight(const struct meter *m, const uint64_t *words)
{
	const struct metric *k = m->metrics;
	uint64_t n = 0;

	if (k->kind == KIND_LEVEL)
		return level_of(words + k->at) * k->scale;
	for (unsigned i = 0; k->label && i < k->words; i++)
		n += words[k->at + i];
	return k->kind == KIND_HISTOGRAM ? row_weight(m, words) :
	       (k->label ? n : row_weight(m, words)) * k->scale;
}

static bool is_latency_metric(const struct metric *k)
{
	return k->kind == KIND_HISTOGRAM && !metric_classes(k);
}

static void take_row(struct sampling *g, unsigned row, unsigned cpu, const uint64_t *words)
{
	const struct meter *m = meters[g->meter];
	const struct table *t = &g->s->tables[g->meter];
	const void *key = m->by & BY_KEY ? key_of(m, t, row) : NULL;
	const struct metric *main = m->metrics;
	bool level = main->kind == KIND_LEVEL, own;
	unsigned id = row * t->cpus + cpu;
	char unit[24];
	struct track *made;
	double value;

	name_counted(main, unit, sizeof(unit));
	own = key && key_unit_of(m, key);
	if (own)
		snprintf(unit, sizeof(unit), "%s", key_unit_of(m, key));
	value = weight(m, words);
	if (main->kind != KIND_RESIDUE && value > 0) {
		made = put(g, chart_of(g, OF_ROWS, NULL, unit, !level, own), id, key,
			   level ? value : value / g->seconds);
		if (made)
			row_name(g, made, row, cpu);
	}
	for_each_metric(k, m) {
		if (g->step || !is_latency_metric(k) || !(m->by & (BY_QUEUE | BY_KEY | BY_CPU)) ||
		    !hist_count(k, words + k->at))
			continue;
		made = put(g, chart_of(g, OF_LATENCY, k, k->unit, false, false), id, key,
			   hist_percentile(k, words + k->at, .99));
		if (made)
			row_name(g, made, row, cpu);
	}
}

static void take_percentiles(struct sampling *g, const struct metric *k, const uint64_t *words)
{
	struct chart *h = g->step || !hist_count(k, words) ? NULL :
			  chart_of(g, OF_PERCENTILES, k, k->unit, false, false);

	for (unsigned i = 0; h && i < sizeof(percentiles) / sizeof(*percentiles); i++)
		put_named(g, h, i, percentiles[i] < 1 ? hist_percentile(k, words, percentiles[i]) :
			  hist_max(k, words), percentile_names[i]);
}

static void take_classes(struct sampling *g, const struct metric *k, const uint64_t *words)
{
	static const struct look look = { .utf8 = true };
	char name[24], from[48], unit[24];

	name_counted(k, unit, sizeof(unit));
	for (unsigned i = 0; i < hist_slots(k); i++) {
		if (!words[1 + i])
			continue;
		figures_class(&look, k, i, name, sizeof(name));
		snprintf(from, sizeof(from), "%.0f%s", hist_floor(k, i) + 1, hist_floor(k, i) + 1 <
			 hist_bound(k, i) ? name : "");
		put_named(g, chart_of(g, OF_CLASSES, k, unit, true, false), i,
			  words[1 + i] / g->seconds, *name == '-' ? from : name);
	}
}

/* The sum of the rows. */
static void take_sum(struct sampling *g, const uint64_t *words)
{
	const struct meter *m = meters[g->meter];
	char name[48];

	for_each_metric(k, m) {
		const uint64_t *w = words + k->at;
		bool main = k == m->metrics;

		if (is_latency_metric(k))
			take_percentiles(g, k, w);
		else if (k->kind == KIND_HISTOGRAM)
			take_classes(g, k, w);
		for (unsigned i = 0; k->label && k->kind == KIND_COUNTER && i < k->words; i++)
			if (w[i])
				put_named(g, chart_of(g, OF_LABELS, k, k->unit, true, false), i,
					  w[i] * k->scale / g->seconds, k->labels[i]);
		name_words(k->name, name, sizeof(name));
		if (k->kind == KIND_COUNTER && !k->label && !main && *w)
			put_named(g, chart_of(g, OF_COUNTERS, NULL, k->unit, true, false),
				  k - m->metrics, *w * k->scale / g->seconds, name);
		if (k->kind == KIND_LEVEL && !main && level_of(w) && !g->step)
			put_named(g, chart_of(g, OF_LEVELS, NULL, k->unit, false, false),
				  k - m->metrics, level_of(w) * k->scale, name);
	}
}

/* The rows of a meter, at one point or at all of them. */
static void take_meter(struct sampling *g, int point)
{
	const struct meter *m = meters[g->meter];
	const struct table *t = &g->s->tables[g->meter];
	uint64_t *sum = calloc(t->words + 1, sizeof(*sum));
	bool any = false;

	g->point = point;
	g->c->short_of_memory |= !sum;
	for (unsigned row = 0; sum && row < t->rows; row++) {
		if (point >= 0 && place_of(g->s, m, row).point != (enum point)point)
			continue;
		if (m->by & BY_KEY && key_minor(m, key_of(m, t, row)))
			continue;
		for (unsigned cpu = 0; cpu < t->cpus; cpu++) {
			const uint64_t *words = row_words(t, row, cpu);

			if (row_idle(m, t, row, cpu))
				continue;
			any = true;
			if (!(m->by & BY_KEY) || !key_part(m, key_of(m, t, row)))
				words_add(sum, words, t->words);
			take_row(g, row, cpu, words);
		}
	}
	if (any)
		take_sum(g, sum);
	free(sum);
}

static void take(struct sampling *g)
{
	for (g->meter = 0; g->meter < NR_METERS; g->meter++) {
		const struct meter *m = meters[g->meter];

		if (!meter_shown(g->s, g->meter))
			continue;
		g->seconds = table_seconds(g->s, m);
		if (!(m->by & BY_POINT))
			take_meter(g, -1);
		for (int point = 0; m->by & BY_POINT && point < NR_POINTS; point++)
			take_meter(g, point);
	}
}

void course_sample(struct course *c, const struct snapshot *s, int slice)
{
	take(&(struct sampling){ .c = c, .s = s, .slice = slice });
}

void course_step(struct course *c, const struct snapshot *s, unsigned slice)
{
	take(&(struct sampling){ .c = c, .s = s, .slice = slice, .step = true });
}
