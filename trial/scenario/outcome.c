/* SPDX-License-Identifier: GPL-2.0 */
/* The figures of an outcome, each with a name, a unit and a direction. */
#include <stdarg.h>
#include <stdio.h>

#include "lib/util/list.h"
#include "trial/scenario/suite.h"

#define QUEUES_SHOWN	24	/* limited so that the figures of all scenarios fit */

__attribute__((format(printf, 5, 6)))
static void put(struct result *r, const char *unit, int better, double value, const char *name, ...)
{
	struct bench_figure *f = &r->figure[r->nr];
	va_list args;

	if (r->nr == FIGURES_MAX)
		return;
	va_start(args, name);
	vsnprintf(f->name, sizeof(f->name), name, args);
	va_end(args);
	f->unit = unit;
	f->better = better;
	f->value = value;
	r->nr++;
}

static void pmu_figures(const struct bench *b, const struct outcome *o, struct result *r)
{
	static const char *const names[] = {
		[PMU_CYCLES] = "cycles", [PMU_INSTRUCTIONS] = "instructions",
		[PMU_CACHE_MISSES] = "cache_misses",
	};
	ONE_EACH(names, NR_PMU);

	for (int i = 0; i < NR_PMU; i++)
		put(r, names[i], -1, b->pmus.has[i] && o->packets ?
		    (double)o->effort.pmu[i] / o->packets : NAN, "%s %s_per_packet",
		    o->scenario->name, names[i]);
}

static void seen_figures(const struct outcome *o, struct result *r)
{
	const char *name = o->scenario->name;
	const struct seen *s = &o->seen;
	double packets = o->metered && o->metered_packets ? o->metered_packets : NAN;

	put(r, "polls", 0, s->polls / packets, "%s polls_per_packet", name);
	put(r, "interrupts", 0, s->interrupts / packets, "%s interrupts_per_packet", name);
	put(r, "ns", -1, 1e9 * s->poll_seconds / (s->polled ?: NAN), "%s poll_ns_per_packet", name);
	put(r, "ns", -1, packets / packets * 1e9 * s->p50, "%s completion_p50_ns", name);
	put(r, "ns", -1, packets / packets * 1e9 * s->p99, "%s completion_p99_ns", name);
}

void outcome_figures(const struct bench *b, const struct outcome *o, struct result *r)
{
	const char *name = o->scenario->name;
	double packets = o->packets, busy = 0;
	const uint64_t *queue = o->places ? o->seen.queue : o->where.queue;
	const uint64_t *cpus = o->places ? o->seen.cpu : o->where.cpu;
	double seconds = o->places ? o->metered_seconds : o->seconds;
	unsigned shown = 0;

	for (unsigned cpu = 0; cpu < o->effort.cpus; cpu++)
		busy += o->effort.busy[cpu];
	/* the kernel counts in ticks: short times cannot be separated from other work */
	busy = busy > 1e9 * o->others ? busy - 1e9 * o->others : NAN;
	put(r, "packets/s", 1, packets / o->seconds, "%s packets_per_second", name);
	put(r, "bit/s", 1, 8. * o->bytes / o->seconds, "%s bits_per_second", name);
	put(r, "packets/s", 0, o->sent ? o->sent / o->seconds : NAN, "%s sent_per_second", name);
	put(r, "ns", -1, packets ? busy / packets : NAN, "%s ns_per_packet", name);
	put(r, "CPUs", 0, busy * 1e-9 / o->seconds, "%s busy_cpus", name);
	put(r, "CPUs", 0, o->sent ? o->others / o->seconds : NAN, "%s other_cpus", name);
	if (o->sockets)
		put(r, "segments", -1, o->retransmits, "%s retransmits", name);
	pmu_figures(b, o, r);
	seen_figures(o, r);
	for (unsigned i = 0; i < TRAFFIC_QUEUES && shown < QUEUES_SHOWN; i++)
		if (queue[i] && ++shown)
			put(r, "packets/s", 0, queue[i] / seconds,
			    "%s queue %u packets_per_second", name, i);
	shown = 0;
	for (unsigned i = 0; i < TRAFFIC_CPUS && shown < QUEUES_SHOWN; i++)
		if (cpus[i] && ++shown)
			put(r, "packets/s", 0, cpus[i] / seconds,
			    "%s cpu %u packets_per_second", name, i);
}
