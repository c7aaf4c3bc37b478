/* SPDX-License-Identifier: GPL-2.0 */
/* How many packets a meter that follows single packets has followed, and how many it passed by. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/attach/pinned.h"
#include "lib/read/thinned.h"
#include "lib/util/log.h"

#define TOLERANCE 1.25		/* what a burst may take more, in a window of a second */

bool meter_thins(const struct snapshot *s, int id)
{
	const struct meter *m = meters[id];

	return m->thins.take && (meter_adapts(m, &s->meta) || meter_sample(m, &s->meta) > 1);
}

static void plans_read(struct snapshot *s, const char *pins)
{
	struct pinned_map plans = pin_read(text("%s/" PACE_PLAN_MAP, pins));

	for (__u32 id = 0; plans.fd >= 0 && id < NR_METERS; id++)
		if (bpf_map_lookup_elem(plans.fd, &id, &s->plan[id]))
			s->plan[id] = (struct pace_plan){};
	pin_close(&plans);
}

void thinned_read(struct snapshot *s, const char *pins)
{
	unsigned cpus = s->meta.cpus;
	struct pace *percpu = NULL;
	struct pinned_map map = { .fd = -1 };

	for (__u32 id = 0; id < NR_METERS; id++) {
		if (!(s->meta.on >> id & 1) || !meter_thins(s, id))
			continue;
		percpu = percpu ?: calloc(cpus + 1, sizeof(*percpu));
		s->thinned = s->thinned ?: calloc((size_t)NR_METERS * cpus + 1,
						  sizeof(*s->thinned));
		if (map.fd < 0)
			map = pin_read(text("%s/" PACE_MAP, pins));
		if (!percpu || !s->thinned || map.fd < 0 ||
		    bpf_map_lookup_elem(map.fd, &id, percpu))
			continue;
		for (unsigned cpu = 0; cpu < cpus; cpu++)
			if (percpu[cpu].shift > s->shift[id] &&
			    percpu[cpu].shift <= PACE_PAUSED)
				s->shift[id] = percpu[cpu].shift;
		for (unsigned cpu = 0; cpu < cpus; cpu++)
			s->thinned[id * cpus + cpu] = (struct thinned){
				percpu[cpu].taken, percpu[cpu].passed, percpu[cpu].paused
			};
	}
	pin_close(&map);
	if (s->meta.budget)
		plans_read(s, pins);
	free(percpu);
}

static uint64_t less(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;	/* the meter may have begun anew meanwhile */
}

void thinned_diff(struct snapshot *now, const struct snapshot *before)
{
	size_t nr = (size_t)NR_METERS * now->meta.cpus;

	for (size_t i = 0; now->thinned && before->thinned && i < nr; i++) {
		struct thinned *t = &now->thinned[i];
		const struct thinned *b = &before->thinned[i];

		*t = (struct thinned){
			less(t->taken, b->taken), less(t->passed, b->passed),
			less(t->paused, b->paused),
		};
	}
}

struct thinned thinned_of(const struct snapshot *s, int id)
{
	struct thinned sum = {};

	for (unsigned cpu = 0; s->thinned && meter_thins(s, id) && cpu < s->meta.cpus; cpu++) {
		const struct thinned *t = &s->thinned[id * s->meta.cpus + cpu];

		sum.taken += t->taken;
		sum.passed += t->passed;
		sum.paused += t->paused;
	}
	return sum;
}

bool meter_has_all(const struct snapshot *s, int id)
{
	if (!meter_adapts(meters[id], &s->meta))
		return meter_sample(meters[id], &s->meta) == 1;
	return !thinned_of(s, id).passed;
}

double meter_one_in(const struct snapshot *s, int id)
{
	struct thinned t = thinned_of(s, id);

	if (!t.taken && !t.passed)
		return meters[id]->thins.take ? meter_sample(meters[id], &s->meta) : 1;
	return t.taken ? (double)(t.taken + t.passed) / t.taken : INFINITY;
}

unsigned meter_stands_for(const struct snapshot *s, int id)
{
	return meter_adapts(meters[id], &s->meta) ? 1u << s->shift[id] :
	       meter_sample(meters[id], &s->meta);
}

double thinned_share(const struct snapshot *s)
{
	double most = 0;

	for (unsigned cpu = 0; s->thinned && cpu < s->meta.cpus; cpu++) {
		double ps = 0;

		for (int id = 0; id < NR_METERS; id++) {
			const struct thinned *t = &s->thinned[id * s->meta.cpus + cpu];

			ps += (double)t->taken * s->plan[id].take +
			      (double)(t->taken + t->passed) * s->plan[id].pass;
		}
		most = ps > most ? ps : most;
	}
	return s->seconds > 0 ? most * 1e-12 / s->seconds : 0;
}

bool thinned_holds(const struct snapshot *s)
{
	return thinned_share(s) <= s->meta.budget * 1e-6 * TOLERANCE;
}
