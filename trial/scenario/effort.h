/* SPDX-License-Identifier: GPL-2.0 */
/* What a trial takes of the CPUs: their time, and what their PMUs count. */
#ifndef NICPROBE_EFFORT_H
#define NICPROBE_EFFORT_H

#include <stdbool.h>
#include <stdint.h>

#define EFFORT_CPUS	256
enum pmu { PMU_CYCLES, PMU_INSTRUCTIONS, PMU_CACHE_MISSES, NR_PMU };

struct effort {
	unsigned cpus;
	uint64_t busy[EFFORT_CPUS], all[EFFORT_CPUS];	/* ns of each CPU; busy is not idle */
	uint64_t softirqd[EFFORT_CPUS];	/* ns that the softirqs of a CPU ran in their thread */
	uint64_t pmu[NR_PMU];				/* of all CPUs */
};

/* Descriptors of the PMU's counters, which go with the process. */
struct pmus {
	unsigned nr;			/* CPUs; 0: there is no PMU for us */
	bool has[NR_PMU];		/* this one it can count */
	int (*fd)[NR_PMU];
	char why[160];			/* why there is none; "" */
	int softirqd[EFFORT_CPUS];	/* process ids; 0: not known */
};

void pmus_open(struct pmus *);
void pmus_close(struct pmus *);

void effort_read(const struct pmus *, struct effort *);
/* `now` becomes what was done since `before`. */
void effort_diff(struct effort *now, const struct effort *before);

#endif
