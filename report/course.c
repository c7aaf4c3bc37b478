/* SPDX-License-Identifier: GPL-2.0 */
/* The charts of an interface: which lines they keep, and which of them proves a finding. */
#include <stdlib.h>
#include <string.h>

#include "report/course.h"

#define ROWS_MOST	256	/* queues and CPUs that have a line of their own */

static int by_total(const void *a, const void *b)
{
	const struct track *x = a, *y = b;

	return x->total < y->total ? 1 : x->total > y->total ? -1 : x->id < y->id ? -1 : 1;
}

static int by_id(const void *a, const void *b)
{
	const struct track *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static void track_free(struct track *t)
{
	free(t->key);
	free(t->mean);
	free(t->peak);
}

/* Keeps those with most. Keys stay in that order; queues come in their own. */
static void chart_cut(struct chart *h)
{
	bool keys = h->nr && h->tracks[0].key;
	unsigned most = keys ? TRACKS_MOST : ROWS_MOST;

	if (!h->nr)
		return;
	if (keys || h->nr > most)
		qsort(h->tracks, h->nr, sizeof(*h->tracks), by_total);
	for (; h->nr > most; h->more++)
		track_free(&h->tracks[--h->nr]);
	if (!keys)
		qsort(h->tracks, h->nr, sizeof(*h->tracks), by_id);
}

static float *values(struct course *c, float value)
{
	float *list = malloc(c->nr_slices * sizeof(*list));

	c->short_of_memory |= !list;
	for (unsigned i = 0; list && i < c->nr_slices; i++)
		list[i] = value;
	return list;
}

void course_cut(struct course *c)
{
	for (unsigned i = 0; i < c->nr_charts; i++)
		chart_cut(&c->charts[i]);
}

void course_slices(struct course *c)
{
	for (unsigned i = 0; i < c->nr_charts; i++) {
		struct chart *h = &c->charts[i];

		h->slices = c->nr_slices;
		for (unsigned k = 0; k < h->nr; k++) {
			h->tracks[k].mean = values(c, h->rate ? 0 : NAN);
			if (h->rate && c->steps > 1)
				h->tracks[k].peak = values(c, 0);
		}
	}
}

void course_free(struct course *c)
{
	for (unsigned i = 0; i < c->nr_charts; i++) {
		for (unsigned k = 0; k < c->charts[i].nr; k++)
			track_free(&c->charts[i].tracks[k]);
		free(c->charts[i].tracks);
	}
	for (unsigned id = 0; id < NR_METERS; id++)
		free(c->tables[id]);
	free(c->charts);
	free(c->slices);
	free(c->spells);
	free(c->notes);
	snapshot_free(&c->window);
}
