/* SPDX-License-Identifier: GPL-2.0 */
/* What the numbers of a recording are called, so that a version with other meters reads it, too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/proc/load.h"
#include "lib/read/thinned.h"
#include "lib/util/list.h"
#include "record/names.h"

#define ONE(T, field, u)	COUNTER(T, field, .name = #field, .unit = u)

static const struct metric frame_metrics[] = {
	ONE(struct frame_words, seq, "frames"), ONE(struct frame_words, when, "ns"),
	ONE(struct frame_words, boot_ns, "ns"), ONE(struct frame_words, mono_ns, "ns"),
	ONE(struct frame_words, packets, "packets"), ONE(struct frame_words, missed, "events"),
	ONE(struct frame_words, missed_nobodys, "events"),
	COUNTER(struct frame_words, missed_point, .name = "missed_point", .unit = "events",
		.label = "point", .labels = point_names),
	{}
};

static const struct metric meter_metrics[] = {
	ONE(struct meter_words, lost, "counts"), ONE(struct meter_words, missed, "events"),
	ONE(struct meter_words, when, "ns"), ONE(struct meter_words, changed, "flag"),
	ONE(struct meter_words, plan_room, "time"), ONE(struct meter_words, plan_ticks, "ticks"),
	ONE(struct meter_words, plan_take, "time"), ONE(struct meter_words, plan_pass, "time"),
	{}
};

static const char *const spent_names[] = {
	[SPENT_USER] = "user", [SPENT_NICE] = "nice", [SPENT_SYSTEM] = "system",
	[SPENT_IDLE] = "idle", [SPENT_IOWAIT] = "iowait", [SPENT_IRQ] = "irq",
	[SPENT_SOFTIRQ] = "softirq", [SPENT_STEAL] = "steal",
};
ONE_EACH(spent_names, NR_SPENT);

static const struct metric load_metrics[] = {
	{ .kind = KIND_COUNTER, .name = "spent", .unit = "ticks", .scale = 1, .words = NR_SPENT,
	  .label = "as", .labels = spent_names },
	{}
};

static const struct metric thinned_metrics[] = {
	ONE(struct thinned, taken, "packets"), ONE(struct thinned, passed, "packets"),
	ONE(struct thinned, paused, "packets"),
	{}
};

static const struct meter own[] = {
	[SHEET_FRAME] = { .name = "frame", .row_size = sizeof(struct frame_words),
			  .metrics = frame_metrics },
	[SHEET_METERS] = { .name = "meters", .row_size = sizeof(struct meter_words),
			   .metrics = meter_metrics },
	[SHEET_LOAD] = { .name = "load", .row_size = NR_SPENT * sizeof(uint64_t),
			 .metrics = load_metrics },
	[SHEET_THINNED] = { .name = "thinned", .row_size = sizeof(struct thinned),
			    .metrics = thinned_metrics },
};
ONE_EACH(own, OWN_SHEETS);

const struct meter *sheet_meter(unsigned sheet)
{
	return sheet < OWN_SHEETS ? &own[sheet] : meters[sheet - OWN_SHEETS];
}

/* What a word means must be the same for one file and this version: "le 128", "ns". */
static unsigned bounds_of(const struct metric *k)
{
	return k->kind == KIND_HISTOGRAM && k->bounds ? k->words - 2 : 0;
}

static void metric_put(struct bytes *b, const struct metric *k)
{
	bytes_text(b, k->name);
	bytes_text(b, k->unit);
	bytes_uint(b, k->kind);
	bytes_uint(b, k->at);
	bytes_uint(b, k->words);
	bytes_double(b, k->scale);
	bytes_uint(b, k->steps);
	bytes_uint(b, bounds_of(k));
	for (unsigned i = 0; i < bounds_of(k); i++)
		bytes_uint(b, k->bounds[i] - (i ? k->bounds[i - 1] : 0));
	bytes_uint(b, k->label ? k->words : 0);
	for (unsigned i = 0; k->label && i < k->words; i++)
		bytes_text(b, k->labels[i]);
}

void names_put(struct bytes *b)
{
	bytes_uint(b, NR_SHEETS);
	for (unsigned sheet = 0; sheet < NR_SHEETS; sheet++) {
		const struct meter *m = sheet_meter(sheet);
		unsigned labels = 0, nr = 0;

		while (m->key.labels && m->key.labels[labels])
			labels++;
		for_each_metric(k, m)
			nr++;
		bytes_text(b, m->name);
		bytes_uint(b, m->by);
		bytes_uint(b, m->row_size / 8);
		bytes_uint(b, m->moments);
		bytes_uint(b, m->key.size);
		bytes_uint(b, labels);
		for (unsigned i = 0; i < labels; i++)
			bytes_text(b, m->key.labels[i]);
		bytes_uint(b, nr);
		for_each_metric(k, m)
			metric_put(b, k);
	}
}

static const struct metric *metric_named(const struct meter *m, const char *name)
{
	if (m)
		for_each_metric(k, m)
			if (!strcmp(k->name, name))
				return k;
	return NULL;
}

static unsigned word_labelled(const struct metric *k, const char *label)
{
	for (unsigned i = 0; k && k->label && i < k->words; i++)
		if (!strcmp(k->labels[i], label))
			return k->at + i;
	return NOWHERE;
}

/* A metric is ours if a word of it means the same; a labelled one is so word by word. */
static void metric_take(struct sheet_names *s, struct reading_of *r)
{
	char name[64], unit[32], label[64];
	const struct metric *k;
	unsigned kind, at, words, nr;
	uint64_t bound = 0;
	bool same;

	take_text(r, name, sizeof(name));
	take_text(r, unit, sizeof(unit));
	kind = take_uint(r);
	at = take_uint(r);
	words = take_uint(r);
	k = metric_named(s->own, name);
	r->bad |= at > s->words || words > s->words - at;
	same = k && k->kind == kind && !strcmp(k->unit, unit);
	same &= take_double(r) == (k ? k->scale : 0);
	same &= take_uint(r) == (k ? k->steps : 0);
	nr = take_count(r);
	same &= k && nr == bounds_of(k);
	for (unsigned i = 0; i < nr; i++) {
		bound += take_uint(r);
		same = same && k->bounds[i] == bound;
	}
	nr = take_count(r);
	for (unsigned i = 0; i < nr; i++) {
		take_text(r, label, sizeof(label));
		if (same && !r->bad && i < words)
			s->to[at + i] = word_labelled(k, label);
	}
	if (!nr && same && !k->label && k->words == words)
		for (unsigned i = 0; !r->bad && i < words; i++)
			s->to[at + i] = k->at + i;
}

static const struct meter *sheet_find(const char *name)
{
	for (unsigned i = 0; i < NR_SHEETS; i++)
		if (!strcmp(sheet_meter(i)->name, name))
			return sheet_meter(i);
	return NULL;
}

static bool sheet_take(struct sheet_names *s, struct reading_of *r)
{
	const struct meter *m;
	unsigned nr;

	take_text(r, s->name, sizeof(s->name));
	s->by = take_uint(r);
	s->words = take_uint(r);
	s->moments = take_uint(r);
	s->key_size = take_uint(r);
	s->labels = take_count(r);
	for (unsigned i = 0; i < s->labels; i++) {
		size_t len;

		take_words(r, &len);
	}
	if (r->bad || s->words > MOST_WORDS || s->key_size > MOST_WORDS || s->moments > s->words)
		return false;
	s->to = malloc((s->words + 1) * sizeof(*s->to));
	if (!s->to)
		return false;
	m = s->own = sheet_find(s->name);
	if (!m)
		snprintf(s->why, sizeof(s->why), "this version has no meter %s", s->name);
	else if (m->by != s->by || m->key.size != s->key_size)
		snprintf(s->why, sizeof(s->why), "this version has other rows in %s", s->name);
	if (*s->why)
		s->own = NULL;
	for (unsigned i = 0; i < s->words; i++)		/* moments are no metric */
		s->to[i] = s->own && m->moments && s->moments && i >= s->moments &&
			   m->row_size / 8 - m->moments == s->words - s->moments ?
			   m->moments + i - s->moments : NOWHERE;
	nr = take_count(r);
	for (unsigned i = 0; i < nr && !r->bad; i++)
		metric_take(s, r);
	return !r->bad;
}

bool names_take(struct names *n, struct reading_of *r)
{
	unsigned nr = take_count(r);

	*n = (struct names){};
	if (nr > MOST_SHEETS)
		return false;
	n->list = calloc(nr + 1, sizeof(*n->list));
	for (; n->list && n->nr < nr && !r->bad; n->nr++)
		if (!sheet_take(&n->list[n->nr], r))
			r->bad = true;
	return n->list && !r->bad;
}

void names_free(struct names *n)
{
	for (unsigned i = 0; n->list && i <= n->nr; i++)
		free(n->list[i].to);
	free(n->list);
	*n = (struct names){};
}

const struct sheet_names *names_of(const struct names *n, unsigned sheet)
{
	for (unsigned i = 0; i < n->nr; i++)
		if (n->list[i].own == sheet_meter(sheet))
			return &n->list[i];
	return NULL;
}
