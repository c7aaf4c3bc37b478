/* SPDX-License-Identifier: GPL-2.0 */
/* Sums rows of a meter that differ only in labels that were not requested. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/core/key.h"
#include "lib/util/grow.h"
#include "lib/util/list.h"
#include "render/openmetrics.h"
#include "render/series.h"

const char *const each_names[] = {
	[EACH_QUEUE] = "queue", [EACH_CPU] = "cpu", [EACH_INTERRUPT] = "interrupt",
	[EACH_FLOW] = "flow", [EACH_SOURCE] = "source",
	[EACH_REMOTE] = "remote", [EACH_DOMAIN] = "domain", [EACH_OWN] = "own",
};
ONE_EACH(each_names, NR_EACH);

/* A row before summing: the label of its queue apart from the others. */
struct series_part {
	char *stem, *queue;	/* queue: ",queue=\"3\""; "": no queue, or all queues */
	bool all;		/* all queues */
	const char *unit;
	unsigned order;
	const uint64_t *row;	/* its words in the table */
	uint64_t *words;	/* the sum of those like it; NULL: there is none yet */
};

struct parts {
	unsigned nr;
	struct series_part *list;
	FILE *out;		/* to `text`, of one stem after the other */
	char *text;
	size_t size;
};

/* Labels that are only written on request; any of these bits of --each requests them. */
static const struct {
	const char *label;
	unsigned each;
} on_request[] = {
	{ "cpu", 1 << EACH_CPU },
	{ "vector", 1 << EACH_INTERRUPT },
	{ "irq", 1 << EACH_INTERRUPT },
	{ "serves", 1 << EACH_INTERRUPT | 1 << EACH_QUEUE },
	{ "remote", 1 << EACH_REMOTE },
	{ "local", 1 << EACH_REMOTE },
	{ "domain", 1 << EACH_DOMAIN },
};

static bool left_out(const struct meter *m, const char *label, unsigned each)
{
	for (unsigned i = 0; i < sizeof(on_request) / sizeof(*on_request); i++)
		if (!strcmp(on_request[i].label, label) && !(on_request[i].each & each))
			return true;
	return m->key.now && !strcmp(m->key.now, label);
}

/* The lines of a note as one label, "a;b;c" as in flame graphs: keys may differ only in it. */
static void note(FILE *out, const struct meter *m, const void *key)
{
	char line[160];

	if (!m->key.note || !key_line(m, key, 0, line, sizeof(line)))
		return;
	fprintf(out, ",%s=\"", m->key.note);
	for (unsigned i = 0; key_line(m, key, i, line, sizeof(line)); i++) {
		if (i)
			fputc(';', out);
		openmetrics_escaped(out, line);
	}
	fputc('"', out);
}

static void key_labels(FILE *out, struct series_part *p, const struct meter *m, const void *key,
		       unsigned each)
{
	char text[KEY_TEXT], queue[KEY_TEXT + 16];

	for (unsigned i = 0; m->key.labels[i]; i++) {
		if (left_out(m, m->key.labels[i], each))
			continue;
		key_text(m, key, i, text, sizeof(text));
		if (strcmp(m->key.labels[i], "queue")) {
			fprintf(out, ",%s=\"", m->key.labels[i]);
			openmetrics_escaped(out, text);
			fputc('"', out);
			continue;
		}
		p->all = !strcmp(text, "all");
		if (p->all || !(each >> EACH_QUEUE & 1))	/* sums tell no queue */
			continue;
		snprintf(queue, sizeof(queue), ",queue=\"%s\"", text);
		p->queue = strdup(queue);
	}
	note(out, m, key);
	p->unit = key_unit_of(m, key);
}

static void place_labels(FILE *out, struct series_part *p, const struct snapshot *s,
			 const struct meter *m, unsigned row, unsigned cpu, unsigned each)
{
	struct place at = place_of(s, m, row);
	char queue[32];

	if (m->by & BY_POINT)
		fprintf(out, ",point=\"%s\"", point_names[at.point]);
	if (m->by & BY_CPU && each >> EACH_CPU & 1)
		fprintf(out, ",cpu=\"%u\"", cpu);
	if (!(m->by & BY_QUEUE) || !(each >> EACH_QUEUE & 1))
		return;
	snprintf(queue, sizeof(queue), at.queue < 0 ? ",queue=\"unknown\"" : ",queue=\"%d\"",
		 at.queue);
	p->queue = strdup(queue);
}

/* Appends a part; NULL: out of memory. */
static struct series_part *part_add(struct parts *all)
{
	void *more = grow(all->list, all->nr, sizeof(*all->list));

	if (!more)
		return NULL;
	all->list = more;
	all->list[all->nr] = (struct series_part){ .order = all->nr };
	return &all->list[all->nr++];
}

static int part_read(struct parts *all, const struct snapshot *s, const struct meter *m,
		     unsigned row, unsigned cpu, unsigned each)
{
	const struct table *t = &s->tables[meter_id(m)];
	struct series_part *p = part_add(all);

	all->out = all->out ?: open_memstream(&all->text, &all->size);
	if (!p || !all->out)
		return -ENOMEM;
	rewind(all->out);
	if (m->by & BY_KEY)
		key_labels(all->out, p, m, key_of(m, t, row), each);
	else
		place_labels(all->out, p, s, m, row, cpu, each);
	if (fflush(all->out))
		return -ENOMEM;
	p->stem = strndup(all->text, all->size);
	p->queue = p->queue ?: strdup("");
	p->row = row_words(t, row, cpu);
	return p->stem && p->queue ? 0 : -ENOMEM;
}

static int by_labels(const void *one, const void *other)
{
	const struct series_part *a = one, *b = other;
	int order = strcmp(a->stem, b->stem) ?: strcmp(a->queue, b->queue);

	return order ?: a->order < b->order ? -1 : a->order > b->order;
}

static int by_order(const void *one, const void *other)
{
	const struct series_part *a = one, *b = other;

	return a->order < b->order ? -1 : a->order > b->order;
}

static void part_free(struct series_part *p)
{
	free(p->stem);
	free(p->queue);
	free(p->words);
}

/* The first row of a sum; without memory there is none. */
static void sum_begin(struct series_part *p, unsigned words)
{
	p->words = malloc(words * sizeof(*p->words) + 1);
	if (p->words)
		memcpy(p->words, p->row, words * sizeof(*p->words));
}

/*
 * Sums the sorted parts of one stem. Rows of all queues count the same as the rows by queue: unless
 * by_queue, only the former are kept if both exist.
 */
static unsigned stem_fold(struct series_part *p, unsigned nr, unsigned words, bool by_queue)
{
	unsigned kept = 0;
	bool all = false, some = false;

	for (unsigned i = 0; i < nr; i++) {
		all |= p[i].all;
		some |= !p[i].all;
	}
	for (unsigned i = 0; i < nr; i++) {
		struct series_part *last = kept ? &p[kept - 1] : NULL;

		if (!by_queue && all && some && !p[i].all) {
			part_free(&p[i]);
		} else if (last && (!by_queue || !strcmp(last->queue, p[i].queue))) {
			if (last->words)
				words_add(last->words, p[i].row, words);
			part_free(&p[i]);
		} else {
			p[kept++] = p[i];
			p[kept - 1].all &= some;
			sum_begin(&p[kept - 1], words);
		}
	}
	return kept;
}

static void fold(struct parts *all, unsigned words, bool by_queue)
{
	unsigned kept = 0, nr, left;

	if (!all->nr)
		return;
	qsort(all->list, all->nr, sizeof(*all->list), by_labels);
	for (unsigned i = 0; i < all->nr; i += nr) {
		for (nr = 1; i + nr < all->nr; nr++)
			if (strcmp(all->list[i].stem, all->list[i + nr].stem))
				break;
		left = stem_fold(&all->list[i], nr, words, by_queue);
		memmove(&all->list[kept], &all->list[i], left * sizeof(*all->list));
		kept += left;
	}
	all->nr = kept;
	qsort(all->list, all->nr, sizeof(*all->list), by_order);
}

/* Moves the words of the parts to the series; the callers free both lists. */
static int hand_over(struct series_list *to, struct parts *all, bool by_queue)
{
	to->list = calloc(all->nr + 1, sizeof(*to->list));
	if (!to->list)
		return -ENOMEM;
	for (unsigned i = 0; i < all->nr; i++) {
		struct series_part *p = &all->list[i];
		struct series *s = &to->list[to->nr++];
		size_t size = strlen(p->stem) + strlen(p->queue) + 1;

		*s = (struct series){ .labels = malloc(size), .unit = p->unit, .words = p->words,
				      .whole = by_queue && p->all };
		p->words = NULL;
		if (!s->labels || !s->words)
			return -ENOMEM;
		snprintf(s->labels, size, "%s%s", p->stem, by_queue ? p->queue : "");
	}
	return 0;
}

/*
 * Idle rows, parts of others, and statistics under the driver's own names (there can be hundreds).
 */
static bool row_left_out(const struct snapshot *s, const struct meter *m, unsigned row,
			 unsigned cpu, unsigned each)
{
	const struct table *t = &s->tables[meter_id(m)];

	return row_idle(m, t, row, cpu) ||
	       (m->by & BY_KEY && !(each >> EACH_REMOTE & 1) && key_part(m, key_of(m, t, row))) ||
	       (m->key.minor && !strcmp(m->key.minor, each_names[EACH_OWN]) &&
		!(each >> EACH_OWN & 1) && key_minor(m, key_of(m, t, row)));
}

int series_read(struct series_list *to, const struct snapshot *s, const struct meter *m,
		unsigned each)
{
	const struct table *t = &s->tables[meter_id(m)];
	bool by_queue = each >> EACH_QUEUE & 1;
	struct parts all = {};
	int err = 0;

	*to = (struct series_list){};
	for (unsigned i = 0; m->key.each && i < NR_EACH; i++)
		if (!strcmp(m->key.each, each_names[i]) && !(each >> i & 1))
			return 0;
	for (unsigned row = 0; row < t->rows && !err; row++)
		for (unsigned cpu = 0; cpu < t->cpus && !err; cpu++)
			if (!row_left_out(s, m, row, cpu, each))
				err = part_read(&all, s, m, row, cpu, each);
	if (!err) {
		fold(&all, t->words, by_queue);
		err = hand_over(to, &all, by_queue);
	}
	for (unsigned i = 0; i < all.nr; i++)
		part_free(&all.list[i]);
	free(all.list);
	if (all.out)
		fclose(all.out);
	free(all.text);
	return err;
}

void series_free(struct series_list *l)
{
	for (unsigned i = 0; i < l->nr; i++) {
		free(l->list[i].labels);
		free(l->list[i].words);
	}
	free(l->list);
	*l = (struct series_list){};
}
