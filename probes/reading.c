/* SPDX-License-Identifier: GPL-2.0 */
/* Readings of an aggregation: the difference of two. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probes/reading.h"

static int copy(struct tracing_reading *to, const struct gathered *rows, int nr, unsigned slots)
{
	to->rows = calloc(nr ?: 1, sizeof(*to->rows));
	to->nr = 0;
	if (!to->rows)
		return -ENOMEM;
	for (int i = 0; i < nr; i++) {
		__u64 *slot = calloc(slots ?: 1, sizeof(*slot));

		if (!slot)
			return -ENOMEM;
		memcpy(slot, rows[i].slot, slots * sizeof(*slot));
		to->rows[i] = rows[i];
		to->rows[i].slot = slot;
		to->nr++;
	}
	return 0;
}

static const struct gathered *find(const struct tracing_reading *r, const struct query_key *key)
{
	for (int i = 0; i < r->nr; i++)
		if (!memcmp(&r->rows[i].key, key, sizeof(*key)))
			return &r->rows[i];
	return NULL;
}

static const struct question *sorting;

static int by_figure(const void *a, const void *b)
{
	const struct gathered *x = a, *y = b;
	double m = gathered_figure(sorting, x), n = gathered_figure(sorting, y);

	if (!x->n != !y->n)
		return x->n ? -1 : 1;
	if (m != n)
		return m < n ? 1 : -1;
	return memcmp(&x->key, &y->key, sizeof(x->key));
}

int reading_grown(const struct question *q, struct gathered *now, int nr,
		  struct tracing_reading *before)
{
	struct tracing_reading kept;
	int grown = 0, err = copy(&kept, now, nr, q->query.slots);

	for (int i = 0; i < nr && !err; i++) {
		const struct gathered *old = find(before, &now[i].key);

		if (old) {
			now[i].n -= old->n;
			now[i].sum -= old->sum;
			for (unsigned s = 0; s < q->query.slots; s++)
				now[i].slot[s] -= old->slot[s];
		}
		grown += now[i].n > 0;
	}
	if (err) {
		gathered_free(kept.rows, kept.nr);
		return err;
	}
	gathered_free(before->rows, before->nr);
	*before = kept;
	sorting = q;
	if (nr)
		qsort(now, nr, sizeof(*now), by_figure);
	return grown;
}
