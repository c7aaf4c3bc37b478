/* SPDX-License-Identifier: GPL-2.0 */
/* The formats openmetrics and prometheus: counts since attach. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/read/derived.h"
#include "lib/util/list.h"
#include "render/hw/hw.h"
#include "render/openmetrics.h"
#include "render/render.h"
#include "render/sampled.h"
#include "render/series.h"
#include "render/text.h"

static bool escaped(FILE *out, uint32_t c)
{
	if (c == '\n')
		fputs("\\n", out);
	else if (c == UTF8_BAD)
		fputs("\uFFFD", out);
	return c == '\n' || c == UTF8_BAD;
}

void openmetrics_escaped(FILE *out, const char *s)
{
	text_escape(out, s, escaped);
}

void openmetrics_label(FILE *out, const char *name, const char *value)
{
	if (!*value)
		return;
	fprintf(out, ",%s=\"", name);
	openmetrics_escaped(out, value);
	fputc('"', out);
}

static bool ends_with_unit(const char *family, const char *unit)
{
	const char *last = strrchr(family, '_');

	return last && *unit && !strcmp(last + 1, unit);
}

/*
 * In TYPE and HELP lines, text format 0.0.4 names a counter with _total, OpenMetrics without.
 * HELP: 0.0.4 does not allow \", OpenMetrics no bare quote; so quotes become '.
 */
void openmetrics_head(const struct metrics_out *o, const char *family, const char *type,
		      const char *unit, const char *help)
{
	bool info = !strcmp(type, "info");
	const char *suffix = o->old && !strcmp(type, "counter") ? "_total" : "";
	int len = strlen(family) - (info && !o->old ? strlen("_info") : 0);

	fprintf(o->out, "# TYPE %.*s%s %s\n", len, family, suffix,
		info && o->old ? "gauge" : type);
	if (!o->old && ends_with_unit(family, unit))
		fprintf(o->out, "# UNIT %.*s %s\n", len, family, unit);
	fprintf(o->out, "# HELP %.*s%s ", len, family, suffix);
	for (; *help; help++)
		fputc(*help == '"' || *help == '\\' || *help == '\n' ? '\'' : *help, o->out);
	fputc('\n', o->out);
}

void openmetrics_labels(FILE *out, const char *sample, const struct snapshot *s)
{
	fprintf(out, "%s{interface=\"", sample);
	openmetrics_escaped(out, s->meta.iface);
	fprintf(out, "\",netns=\"%" PRIu32 "\"", s->meta.netns);
	openmetrics_label(out, "netns_name", netns_of(s));
}

/* One meter of one snapshot. */
struct shown {
	const struct snapshot *s;
	char *labels;		/* "{interface=…": the common labels of its samples */
	struct series_list rows;
};

/* All snapshots of an output: each family is written once, with the samples of all. */
struct exposition {
	struct metrics_out o;
	const struct snapshot *const *list;
	unsigned nr, each;
	struct shown *shown;
};

/* One row of one metric. */
struct row {
	FILE *out;
	const struct metric *k;
	const char *family;
	const struct bound *bounds;	/* histograms: by slot */
	const char *labels;
	const struct series *series;
	const char *sampled;		/* its label; "": none */
	const uint64_t *words;
};

struct bound {
	char le[24];
};

/* Writes "NAME{LABELS"; the caller completes the line. */
static void sample(const struct row *r, const char *suffix)
{
	fputs(r->family, r->out);
	fputs(suffix, r->out);
	fputs(r->labels, r->out);
	fputs(r->series->labels, r->out);
	openmetrics_label(r->out, "sampled", r->sampled);
}

static void number(FILE *out, uint64_t n)
{
	char room[NUMBER_SIZE];

	fputs("} ", out);
	fputs(text_number(room, n), out);
	fputc('\n', out);
}

static void scaled(const struct row *r, uint64_t n)
{
	if (r->k->scale == 1)
		number(r->out, n);
	else
		fprintf(r->out, "} %.9g\n", n * r->k->scale);
}

static void counter(const struct row *r)
{
	for (unsigned i = 0; i < r->k->words; i++) {
		sample(r, "_total");
		if (r->k->label)
			fprintf(r->out, ",%s=\"%s\"", r->k->label, r->k->labels[i]);
		scaled(r, r->words[i]);
	}
}

static void level(const struct row *r)
{
	sample(r, "");
	fprintf(r->out, "} %.9g\n", level_of(r->words) * r->k->scale);
}

static void residue(const struct row *r)
{
	uint64_t within;

	sample(r, "");
	fprintf(r->out, "} %" PRId64 "\n", residue_of(r->k, r->words, &within));
}

/* Log-linear histograms have many slots: only those that end at a power of two are buckets. */
static bool is_bucket(const struct metric *k, unsigned slot)
{
	return metric_classes(k) || slot % (k->steps ?: LOGLIN_STEPS) == 0 ||
	       slot == hist_slots(k) - 1;
}

/* OpenMetrics requires a float: 64.0. Of slots that are no bucket, nobody asks. */
static void bounds_fill(struct bound *bounds, const struct metric *k)
{
	for (unsigned i = 0; i < hist_slots(k); i++) {
		char *le = bounds[i].le;
		double bound = hist_bound(k, i);

		if (!is_bucket(k, i))
			continue;
		strcpy(le, "+Inf");
		if (!isinf(bound))
			snprintf(le, sizeof(bounds[i].le), "%.9g", bound);
		if (!strpbrk(le, ".eI"))
			strcat(le, ".0");
	}
}

static void bucket(const struct row *r, const char *le, uint64_t count)
{
	sample(r, "_bucket");
	fputs(",le=\"", r->out);
	fputs(le, r->out);
	fputc('"', r->out);
	number(r->out, count);
}

static void histogram(const struct row *r)
{
	uint64_t seen = 0;

	for (unsigned i = 0; i < hist_slots(r->k); i++) {
		seen += r->words[1 + i];
		if (is_bucket(r->k, i))
			bucket(r, r->bounds[i].le, seen);
	}
	sample(r, "_sum");
	scaled(r, r->words[0]);
	sample(r, "_count");
	number(r->out, seen);
}

/* A row for all queues beside rows by queue has only the metrics that those do not report. */
static bool has_sample(const struct metric *k, const struct series *s, const char *unit)
{
	if (s->unit != unit && (!s->unit || !unit || strcmp(s->unit, unit)))
		return false;
	return k->untold ? s->words[k->at] : !s->whole;
}

static void family(const struct exposition *a, const struct meter *m, const struct metric *k,
		   const char *unit)
{
	static void (*const write[])(const struct row *) = {
		[KIND_COUNTER] = counter, [KIND_HISTOGRAM] = histogram,
		[KIND_LEVEL] = level, [KIND_RESIDUE] = residue,
	};
	static const char *const types[] = {
		[KIND_COUNTER] = "counter", [KIND_HISTOGRAM] = "histogram",
		[KIND_LEVEL] = "gauge", [KIND_RESIDUE] = "gauge",
	};
	ONE_EACH(types, NR_KINDS);
	struct bound bounds[k->words];
	char name[96];
	bool any = false;

	metric_family(m, k, unit, name, sizeof(name));
	if (k->kind == KIND_HISTOGRAM)
		bounds_fill(bounds, k);
	for (unsigned i = 0; i < a->nr; i++)
		for (unsigned n = 0; n < a->shown[i].rows.nr; n++) {
			const struct series *s = &a->shown[i].rows.list[n];
			struct row r = {
				.out = a->o.out, .k = k, .family = name, .bounds = bounds,
				.labels = a->shown[i].labels, .series = s,
				.sampled = sampled_label(a->shown[i].s, meter_id(m)),
				.words = s->words + k->at,
			};

			if (!has_sample(k, s, unit))
				continue;
			if (!any)
				openmetrics_head(&a->o, name, types[k->kind], unit ?: k->unit,
						 k->help);
			any = true;
			write[k->kind](&r);
		}
}

#define MAX_UNITS 8	/* of the rows of one meter */

/* The distinct units of its rows: each has its own family. */
static unsigned units_of(const struct exposition *a, const char **units)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < a->nr; i++)
		for (unsigned n = 0; n < a->shown[i].rows.nr; n++) {
			const char *unit = a->shown[i].rows.list[n].unit;
			unsigned at = 0;

			while (at < nr && strcmp(units[at], unit))
				at++;
			if (at == nr && nr < MAX_UNITS)
				units[nr++] = unit;
		}
	return nr;
}

static int families(const struct exposition *a, unsigned id)
{
	const char *units[MAX_UNITS] = {};
	unsigned nr = 1;
	int err = 0;

	for (unsigned i = 0; i < a->nr && !err; i++)
		if (meter_shown(a->shown[i].s, id))
			err = series_read(&a->shown[i].rows, a->shown[i].s, meters[id], a->each);
	if (meters[id]->key.unit)
		nr = units_of(a, units);
	for_each_metric(k, meters[id])
		for (unsigned i = 0; i < nr && !err; i++)
			family(a, meters[id], k, units[i]);
	for (unsigned i = 0; i < a->nr; i++)
		series_free(&a->shown[i].rows);
	return err;
}

static int begin(struct exposition *a)
{
	a->shown = calloc(a->nr + 1, sizeof(*a->shown));
	for (unsigned i = 0; a->shown && i < a->nr; i++) {
		size_t size;
		FILE *out = open_memstream(&a->shown[i].labels, &size);

		if (!out)
			return -1;
		a->shown[i].s = a->list[i];
		openmetrics_labels(out, "", a->list[i]);
		fclose(out);
	}
	return a->shown ? 0 : -1;
}

/* After an error "# EOF" is left out, so that readers of OpenMetrics reject the output. */
static void print(struct metrics_out o, const struct snapshot *const *list, unsigned nr,
		  const struct look *look)
{
	struct exposition a = { .o = o, .list = list, .nr = nr,
				.each = look->each | look->queues << EACH_QUEUE };
	bool figures = false;
	int err = begin(&a);

	for (unsigned i = 0; i < nr; i++)
		figures |= measured(list[i]);
	hw_openmetrics(&o, list, nr);
	for (unsigned id = 0; id < NR_METERS && !err; id++)
		err = families(&a, id);
	if (figures || !nr)
		own_openmetrics(&o, list, nr, look->unread);
	spread_openmetrics(&o, list, look->windows ?: list, nr);
	if (!o.old && !err)
		fputs("# EOF\n", o.out);
	for (unsigned i = 0; a.shown && i < nr; i++)
		free(a.shown[i].labels);
	free(a.shown);
}

static void openmetrics(FILE *out, const struct snapshot *const *list, unsigned nr,
			const struct look *look)
{
	print((struct metrics_out){ .out = out }, list, nr, look);
}

static void prometheus(FILE *out, const struct snapshot *const *list, unsigned nr,
		       const struct look *look)
{
	print((struct metrics_out){ .out = out, .old = true }, list, nr, look);
}

const struct renderer renderer_openmetrics = {
	.name = "openmetrics",
	.help = "OpenMetrics text format",
	.all = openmetrics,
};

const struct renderer renderer_prometheus = {
	.name = "prometheus",
	.help = "Prometheus text format 0.0.4, as for node_exporter's textfile collector",
	.all = prometheus,
};
