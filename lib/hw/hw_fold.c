/* SPDX-License-Identifier: GPL-2.0 */
/* Finds runs of queues that differ only by number, so that one line can describe 64 queues. */
#include <stdlib.h>
#include <string.h>

#include "lib/hw/hw.h"

/* Are the queues consecutive, or absent in both lines? */
static bool queue_follows(int before, int now)
{
	return before < 0 ? before == now : now == before + 1;
}

/* Equal but for the queue number, which must be the queue's own in each. */
static bool name_follows(const struct hw_line *a, const struct hw_line *b)
{
	if (!a->len || !b->len)
		return !a->len && !b->len && !strcmp(a->vector, b->vector);
	return a->at == b->at && !strncmp(a->vector, b->vector, a->at) &&
	       !strcmp(a->vector + a->at + a->len, b->vector + b->at + b->len);
}

static unsigned long number_in(const struct hw_line *l)
{
	return strtoul(l->vector + l->at, NULL, 10);
}

/* The second line of a run sets the step by which each exceeds its predecessor. */
static bool number_follows(unsigned a, unsigned b, bool second, unsigned *step)
{
	if (!a || !b)
		return a == b;
	if (second && b >= a)
		*step = b - a;
	return b == a + *step;
}

static const struct cpus *cpus_of(const struct hw *h, unsigned line, size_t at)
{
	return (const void *)((const char *)&h->lines[line] + at);
}

/* The step that turns `a` into `b`; 0: none. */
static int step_between(const struct cpus *a, const struct cpus *b)
{
	int step = cpus_next(b, -1) - cpus_next(a, -1);

	return cpus_next(a, -1) >= 0 && step && cpus_shifted(a, b, step) ? step : 0;
}

/* Does line `first + nr` continue the run? */
static bool cpus_follow(const struct hw *h, unsigned first, unsigned nr, size_t at,
			struct hw_follow *f)
{
	const struct cpus *now = cpus_of(h, first + nr, at);
	const struct cpus *before = cpus_of(h, first + nr - 1, at);

	if (f->run == RUN_CYCLE)
		return cpus_same(now, cpus_of(h, first + nr % f->period, at));
	if (nr == 1) {
		f->step = step_between(before, now);
		f->run = f->step ? RUN_STEP : RUN_SAME;
		return f->step || cpus_same(before, now);
	}
	if (f->run == RUN_SAME)
		return cpus_same(before, now);
	if (cpus_shifted(before, now, f->step))
		return true;
	if (!cpus_same(now, cpus_of(h, first, at)))
		return false;
	f->run = RUN_CYCLE;
	f->period = nr;
	return true;
}

static bool follows(const struct hw *h, struct hw_span *s)
{
	const struct hw_line *a = &h->lines[s->first + s->nr - 1], *b = a + 1;
	bool second = s->nr == 1;

	if (!queue_follows(a->rx, b->rx) || !queue_follows(a->tx, b->tx) || !name_follows(a, b) ||
	    a->node != b->node || a->threaded != b->threaded || a->rps_flows != b->rps_flows)
		return false;
	/* lines without queues belong together only by consecutive numbers in their names */
	if (a->rx < 0 && a->tx < 0 && (!a->len || number_in(b) != number_in(a) + 1))
		return false;
	return number_follows(a->napi, b->napi, second, &s->napi_step) &&
	       number_follows(a->irq, b->irq, second, &s->irq_step) &&
	       cpus_follow(h, s->first, s->nr, offsetof(struct hw_line, may), &s->may) &&
	       cpus_follow(h, s->first, s->nr, offsetof(struct hw_line, does), &s->does) &&
	       cpus_follow(h, s->first, s->nr, offsetof(struct hw_line, rps), &s->rps) &&
	       cpus_follow(h, s->first, s->nr, offsetof(struct hw_line, xps), &s->xps) &&
	       cpus_follow(h, s->first, s->nr, offsetof(struct hw_line, thread), &s->thread);
}

/* Any two CPUs are some step apart: it takes three to make a pattern. */
static bool by_chance(const struct hw_span *s)
{
	const struct hw_follow *all[] = { &s->may, &s->does, &s->rps, &s->xps, &s->thread };

	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (s->nr == 2 && all[i]->run != RUN_SAME && all[i]->step != 1)
			return true;
	return false;
}

struct hw_span hw_fold(const struct hw *h, unsigned first)
{
	struct hw_span s = { .first = first, .nr = 1 };

	while (s.first + s.nr < h->nr) {
		struct hw_span more = s;	/* discarded if the line does not fit */

		if (!follows(h, &more))
			break;
		s = more;
		s.nr++;
	}
	return by_chance(&s) ? (struct hw_span){ .first = first, .nr = 1 } : s;
}
