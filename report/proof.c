/* SPDX-License-Identifier: GPL-2.0 */
/* Which chart proves a finding, and which of its lines. */
#include <string.h>

#include "report/course.h"

#define SOME	.15	/* of the columns are without it: then these can be compared */
#define CLEAR	4	/* times as high while the finding was there: this is what it is about */

const struct spell *course_spell(const struct course *c, const struct finding *f)
{
	for (unsigned i = 0; i < c->nr_spells; i++)
		if (c->spells[i].kind == f->kind && c->spells[i].frames)
			return &c->spells[i];
	return NULL;
}

static bool has_queue(const struct chart *h, int queue)
{
	for (unsigned i = 0; queue >= 0 && i < h->nr; i++)
		if (h->tracks[i].queue == queue)
			return true;
	return false;
}

/* How many times as high a line is while the finding was there; 1: that cannot be told. */
static double rises(const struct course *c, const struct spell *s, const struct track *t)
{
	double in = 0, out = 0, most = 0, less;
	unsigned nr_in = 0, nr_out = 0;

	for (unsigned k = 0; s && k < c->nr_slices; k++) {
		if (isnan(t->mean[k]))
			continue;
		most = fmax(most, t->mean[k]);
		if (isnan(s->harm[k])) {
			out += t->mean[k];
			nr_out++;
		} else {
			in += t->mean[k];
			nr_in++;
		}
	}
	less = most / 100;
	if (!nr_in || nr_out <= SOME * c->nr_slices || most <= 0)
		return 1;
	return (in / nr_in + less) / (out / nr_out + less);
}

static double chart_rises(const struct course *c, const struct spell *s, const struct chart *h)
{
	double most = 1;

	for (unsigned i = 0; i < h->nr; i++)
		most = fmax(most, rises(c, s, &h->tracks[i]));
	return most;
}

/* Is its first number called as a figure of this chart? */
static bool has_fact(const struct chart *h, const struct finding *f)
{
	char name[48];

	if (!f->nr_facts)
		return false;
	if (h->metric >= 0) {
		name_words(meters[h->meter]->metrics[h->metric].name, name, sizeof(name));
		return !strcmp(name, f->facts[0].name);
	}
	for (unsigned i = 0; h->of == OF_COUNTERS && i < h->nr; i++)
		if (!strcmp(h->tracks[i].label, f->facts[0].name))
			return true;
	return false;
}

/* How well a chart shows what this finding rests on; 0: not at all. */
static double proves(const struct course *c, const struct chart *h, const struct finding *f)
{
	const struct rests *r = &f->kind->rests;
	bool waits = f->kind->harm == HARM_WAIT, times = !strcmp(h->unit, "seconds");
	bool receives = h->point == RX_NIC || h->point == RX_STACK;
	uint64_t bit = 1ull << h->meter;

	if (!h->nr || !((r->all | r->any) & bit))
		return 0;
	return 1 + 10 * has_fact(h, f) + 8 * has_queue(h, f->queue) + 4 * !!(r->all & bit) +
	       4 * (waits == times) + 3 * (h->of == OF_ROWS || (waits && h->of == OF_LATENCY)) +
	       2 * (h->point >= 0 && r->packets == (receives ? REST_RECEIVED : REST_SENT)) +
	       (h->point == RX_NIC || h->point == TX_NIC) +
	       2 * log2(chart_rises(c, course_spell(c, f), h));
}

const struct chart *course_proof(const struct course *c, const struct finding *f)
{
	const struct chart *best = NULL;

	for (unsigned i = 0; i < c->nr_charts; i++)
		if (proves(c, &c->charts[i], f) > (best ? proves(c, best, f) : 0))
			best = &c->charts[i];
	return best;
}

bool course_meant(const struct course *c, const struct finding *f, const struct track *t)
{
	if (!f)
		return false;
	return f->queue >= 0 ? t->queue == f->queue : rises(c, course_spell(c, f), t) >= CLEAR;
}
