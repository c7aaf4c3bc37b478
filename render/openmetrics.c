/* SPDX-License-Identifier: GPL-2.0 */
/* For Prometheus and its like: OpenMetrics 1.0 that the older text format 0.0.4 reads alike. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/derived.h"
#include "hw.h"
#include "openmetrics.h"
#include "render.h"
#include "shown.h"
#include "text.h"

/* Every snapshot of one output: a family is written once, with the samples of all. */
struct all {
	FILE *out;
	const struct snapshot *const *list;
	unsigned nr;
	FILE *memory;		/* writes `labels`: those of one row, for all its samples */
	char *labels;
	size_t size;
};

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

/* In a HELP line 0.0.4 knows no \", and OpenMetrics no bare quote. */
static void help_line(FILE *out, const char *family, const char *suffix, const char *help)
{
	fprintf(out, "# HELP %s%s ", family, suffix);
	for (; *help; help++)
		fputc(*help == '"' || *help == '\\' || *help == '\n' ? '\'' : *help, out);
	fputc('\n', out);
}

/*
 * OpenMetrics names a counter's family without _total, text format 0.0.4 (which
 * promtool and node_exporter's textfile collector read) with it; neither knows
 * the other's. A TYPE or UNIT line fits only one of them. So a counter has just
 * the HELP line that both take for its own, and no type.
 */
static void counter_head(FILE *out, const char *family, const char *help)
{
	help_line(out, family, "_total", help);
}

static void head(FILE *out, const char *family, const char *type, const char *unit,
		 const char *help)
{
	const char *last = strrchr(family, '_');

	fprintf(out, "# TYPE %s %s\n", family, type);
	if (last && !strcmp(last + 1, unit))
		fprintf(out, "# UNIT %s %s\n", family, unit);
	help_line(out, family, "", help);
}

void openmetrics_labels(FILE *out, const char *sample, const struct snapshot *s)
{
	fprintf(out, "%s{interface=\"", sample);
	openmetrics_escaped(out, s->meta.iface);
	fprintf(out, "\",netns=\"%" PRIu32 "\"", s->meta.netns);
}

/* One row of one metric of one snapshot. */
struct row {
	const struct snapshot *s;
	const struct meter *m;
	const struct metric *k;
	const char *family;
	const struct bound *bounds;	/* of a histogram, by slot */
	unsigned row, cpu;
	const uint64_t *words;
	const char *labels;
};

struct bound {
	char le[24];
};

/* Lines of a note as one label: "a;b;c", as flame graphs have them. Keys may differ in it alone. */
static void note(FILE *out, const struct meter *m, const void *key)
{
	char line[160];

	if (!m->key_note || !m->key_line(key, 0, line, sizeof(line)))
		return;
	fprintf(out, ",%s=\"", m->key_note);
	for (unsigned i = 0; m->key_line(key, i, line, sizeof(line)); i++) {
		if (i)
			fputc(';', out);
		openmetrics_escaped(out, line);
	}
	fputc('"', out);
}

static void labels(FILE *out, const struct row *r)
{
	const struct meter *m = r->m;
	struct place at;
	char key[128];

	openmetrics_labels(out, "", r->s);
	for (unsigned i = 0; m->by & BY_KEY && m->key_labels[i]; i++) {
		if (m->key_now && !strcmp(m->key_now, m->key_labels[i]))
			continue;
		m->key_text(key_of(m, &r->s->tables[meter_id(m)], r->row), i, key, sizeof(key));
		fprintf(out, ",%s=\"", m->key_labels[i]);
		openmetrics_escaped(out, key);
		fputc('"', out);
	}
	if (m->by & BY_KEY) {
		note(out, m, key_of(m, &r->s->tables[meter_id(m)], r->row));
		return;
	}
	at = place_of(r->s, m, r->row);
	if (m->by & BY_POINT)
		fprintf(out, ",point=\"%s\"", point_names[at.point]);
	if (m->by & BY_QUEUE && at.queue < 0)
		fputs(",queue=\"unknown\"", out);
	else if (m->by & BY_QUEUE)
		fprintf(out, ",queue=\"%d\"", at.queue);
	if (m->by & BY_CPU)
		fprintf(out, ",cpu=\"%u\"", r->cpu);
}

/* "NAME{LABELS": the caller goes on. */
static void sample(FILE *out, const struct row *r, const char *suffix)
{
	fputs(r->family, out);
	fputs(suffix, out);
	fputs(r->labels, out);
}

static void number(FILE *out, uint64_t n)
{
	char room[NUMBER_SIZE];

	fputs("} ", out);
	fputs(text_number(room, n), out);
	fputc('\n', out);
}

static void counter(FILE *out, const struct row *r)
{
	for (unsigned i = 0; i < r->k->words; i++) {
		sample(out, r, "_total");
		if (r->k->label)
			fprintf(out, ",%s=\"%s\"", r->k->label, r->k->labels[i]);
		if (r->k->scale == 1)
			number(out, r->words[i]);
		else
			fprintf(out, "} %.9g\n", r->words[i] * r->k->scale);
	}
}

static void level(FILE *out, const struct row *r)
{
	sample(out, r, "");
	fprintf(out, "} %.9g\n", level_of(r->words) * r->k->scale);
}

static void residue(FILE *out, const struct row *r)
{
	uint64_t within;

	sample(out, r, "");
	fprintf(out, "} %" PRId64 "\n", residue_of(r->k, r->words, &within));
}

/* What is shown by percentiles has many slots: those that end at a power of two are buckets. */
static bool is_bucket(const struct metric *k, unsigned slot)
{
	return metric_classes(k) || slot % (k->steps ?: LOGLIN_STEPS) == 0 ||
	       slot == hist_slots(k) - 1;
}

/* OpenMetrics wants a float: 64.0 */
static void bounds_fill(struct bound *bounds, const struct metric *k)
{
	for (unsigned i = 0; i < hist_slots(k); i++) {
		char *le = bounds[i].le;
		double bound = hist_bound(k, i);

		strcpy(le, "+Inf");
		if (!isinf(bound))
			snprintf(le, sizeof(bounds[i].le), "%.9g", bound);
		if (!strpbrk(le, ".eI"))
			strcat(le, ".0");
	}
}

static void bucket(FILE *out, const struct row *r, const char *le, uint64_t count)
{
	sample(out, r, "_bucket");
	fputs(",le=\"", out);
	fputs(le, out);
	fputc('"', out);
	number(out, count);
}

static void histogram(FILE *out, const struct row *r)
{
	uint64_t seen = 0;

	for (unsigned i = 0; i < hist_slots(r->k); i++) {
		seen += r->words[1 + i];
		if (is_bucket(r->k, i))
			bucket(out, r, r->bounds[i].le, seen);
	}
	sample(out, r, "_sum");
	if (r->k->scale == 1)
		number(out, r->words[0]);
	else
		fprintf(out, "} %.9g\n", r->words[0] * r->k->scale);
	sample(out, r, "_count");
	number(out, seen);
}

static void row_write(struct all *a, struct row *r,
		      void (*write)(FILE *, const struct row *))
{
	rewind(a->memory);
	labels(a->memory, r);
	fputc('\0', a->memory);
	fflush(a->memory);
	r->labels = a->labels;
	write(a->out, r);
}

static void samples(struct all *a, struct row *r)
{
	static void (*const write[])(FILE *, const struct row *) = {
		[KIND_COUNTER] = counter,
		[KIND_HISTOGRAM] = histogram,
		[KIND_LEVEL] = level,
		[KIND_RESIDUE] = residue,
	};
	const struct table *t = &r->s->tables[meter_id(r->m)];

	for (r->row = 0; r->row < t->rows; r->row++)
		for (r->cpu = 0; r->cpu < t->cpus; r->cpu++) {
			if (row_idle(r->m, t, r->row, r->cpu))
				continue;
			r->words = cell(t, r->row, r->cpu, r->k);
			if (!r->k->untold || *r->words)
				row_write(a, r, write[r->k->kind]);
		}
}

static void family(struct all *a, const struct meter *m, const struct metric *k)
{
	struct bound bounds[k->words];
	char name[96];

	metric_family(m, k, name, sizeof(name));
	if (k->kind == KIND_COUNTER)
		counter_head(a->out, name, k->help);
	else
		head(a->out, name, k->kind == KIND_HISTOGRAM ? "histogram" : "gauge", k->unit,
		     k->help);
	if (k->kind == KIND_HISTOGRAM)
		bounds_fill(bounds, k);
	for (unsigned i = 0; i < a->nr; i++) {
		struct row r = {
			.s = a->list[i], .m = m, .k = k, .family = name, .bounds = bounds
		};

		if (meter_shown(r.s, meter_id(m)))
			samples(a, &r);
	}
}

static void families(struct all *a, unsigned id)
{
	bool shown = false;

	for (unsigned i = 0; i < a->nr; i++)
		shown |= meter_shown(a->list[i], id);
	for_each_metric(k, meters[id])
		if (shown)
			family(a, meters[id], k);
}

static void missed(const struct all *a, const struct snapshot *s, const char *label,
		   const char *name, uint64_t nr)
{
	openmetrics_labels(a->out, "nicprobe_missed_events_total", s);
	fprintf(a->out, ",%s=\"%s\"} %" PRIu64 "\n", label, name, nr);
}

/* How far the figures can be trusted. */
static void self(const struct all *a)
{
	counter_head(a->out, "nicprobe_lost", "Counts that found no room in their map.");
	for (unsigned i = 0; i < a->nr; i++)
		for (unsigned id = 0; id < NR_METERS; id++) {
			if (!meter_loses(a->list[i], id))
				continue;
			openmetrics_labels(a->out, "nicprobe_lost_total", a->list[i]);
			fprintf(a->out, ",meter=\"%s\"} %" PRIu64 "\n", meters[id]->name,
				a->list[i]->lost[id]);
		}
	counter_head(a->out, "nicprobe_missed_events",
		     "Kernel events that the programs of nicprobe missed.");
	for (unsigned i = 0; i < a->nr; i++) {
		const struct snapshot *s = a->list[i];

		if (s->missed_hidden)
			continue;
		for (unsigned id = 0; id < NR_METERS; id++)
			if (meter_shown(s, id) && meters[id]->elf)
				missed(a, s, "meter", meters[id]->name, s->missed_meter[id]);
		for (unsigned p = 0; p < NR_POINTS; p++)
			if (*s->meta.tap[p])
				missed(a, s, "point", point_names[p], s->missed_point[p]);
	}
	head(a->out, "nicprobe_hook_blind", "gauge", "",
	     "1: what sees packets at this point does not see all of them any more.");
	for (unsigned i = 0; i < a->nr; i++)
		for (unsigned p = 0; p < NR_POINTS; p++) {
			if (!*a->list[i]->meta.tap[p])
				continue;
			openmetrics_labels(a->out, "nicprobe_hook_blind", a->list[i]);
			fprintf(a->out, ",point=\"%s\"} %d\n", point_names[p],
				!!*a->list[i]->blind[p]);
		}
	head(a->out, "nicprobe_attached_seconds", "gauge", "seconds",
	     "How long nicprobe has been attached.");
	for (unsigned i = 0; i < a->nr; i++) {
		openmetrics_labels(a->out, "nicprobe_attached_seconds", a->list[i]);
		fprintf(a->out, "} %.9g\n", attached_seconds(a->list[i]));
	}
}

static void all(FILE *out, const struct snapshot *const *list, unsigned nr,
		const struct look *look)
{
	struct all a = { .out = out, .list = list, .nr = nr };
	bool hw = false, figures = false;

	(void)look;
	a.memory = open_memstream(&a.labels, &a.size);
	if (!a.memory)
		return;		/* what does not end by "# EOF" nobody takes for whole */
	for (unsigned i = 0; i < nr; i++) {
		hw |= !!list[i]->hw;
		figures |= measured(list[i]);
	}
	if (hw)
		hw_openmetrics(out, list, nr);
	for (unsigned id = 0; id < NR_METERS; id++)
		families(&a, id);
	if (figures)
		self(&a);
	fputs("# EOF\n", out);
	fclose(a.memory);
	free(a.labels);
}

const struct renderer renderer_openmetrics = {
	.name = "openmetrics",
	.help = "OpenMetrics, for Prometheus and its like",
	.all = all,
};
