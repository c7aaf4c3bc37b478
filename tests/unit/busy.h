/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A made-up window of a second: the queue and CPU of received packets, and the idle time of CPUs.
 */
#ifndef BUSY_H
#define BUSY_H

#include "xdp/rxcpu.h"
#include "judge.h"

#define CPUS	4
#define QUEUES	2

/* idle[cpu] is the percentage of its time left, the rest is softirqs. */
static inline struct snapshot *window(const unsigned *idle)
{
	struct snapshot *s = calloc(1, sizeof(*s));
	struct table *t;

	if (!s)
		abort();
	t = &s->tables[METER_rxcpu];
	*s = (struct snapshot){ .interval = true, .seconds = 1, .online = CPUS };
	s->meta.rx_queues = QUEUES;
	s->meta.rows = QUEUES + 1;
	s->meta.cpus = CPUS;
	snprintf(s->meta.iface, sizeof(s->meta.iface), "eth9");
	*t = (struct table){ .rows = QUEUES + 1, .cpus = CPUS, .words = sizeof(struct rxcpu) / 8 };
	t->cells = calloc(t->rows * CPUS, sizeof(struct rxcpu));
	s->load = (struct cpu_load){ .nr = CPUS, .ticks = calloc(CPUS, sizeof(*s->load.ticks)) };
	if (!t->cells || !s->load.ticks)
		abort();
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		s->load.ticks[cpu][SPENT_IDLE] = idle[cpu];
		s->load.ticks[cpu][SPENT_SOFTIRQ] = 100 - idle[cpu];
	}
	return s;
}

static inline void took(struct snapshot *s, unsigned queue, unsigned cpu, uint64_t packets)
{
	((struct rxcpu *)row_words(&s->tables[METER_rxcpu], queue, cpu))->packets = packets;
}

static inline void forget(struct snapshot *s)
{
	free(s->tables[METER_rxcpu].cells);
	load_free(&s->load);
	free(s);
}

#endif
