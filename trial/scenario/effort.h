/* SPDX-License-Identifier: GPL-2.0 */
/* The CPU cost of a trial: CPU time and PMU counts. */
#ifndef NICPROBE_EFFORT_H
#define NICPROBE_EFFORT_H

#include <stdbool.h>
#include <stdint.h>

#define EFFORT_CPUS	256
enum pmu { PMU_CYCLES, PMU_INSTRUCTIONS, PMU_CACHE_MISSES, NR_PMU };

struct effort {
	unsigned cpus;
	uint64_t busy[EFFORT_CPUS], all[EFFORT_CPUS];	/* ns per CPU; busy: not idle */
	uint64_t softirqd[EFFORT_CPUS];	/* ns that ksoftirqd ran, per CPU */
	uint64_t pmu[NR_PMU];				/* sum of all CPUs */
};

/* Descriptors of PMU counters, closed with the process. */
struct pmus {
	unsigned nr;			/* CPUs; 0: no PMU available */
	bool has[NR_PMU];		/* supported counters */
	int (*fd)[NR_PMU];
	char why[160];			/* why there is no PMU; "" */
	int softirqd[EFFORT_CPUS];	/* pids of ksoftirqd; 0: unknown */
};

void pmus_open(struct pmus *);
void pmus_close(struct pmus *);

void effort_read(const struct pmus *, struct effort *);
/* Turns `now` into the difference to `before`. */
void effort_diff(struct effort *now, const struct effort *before);

#endif
