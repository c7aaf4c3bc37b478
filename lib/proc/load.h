/* SPDX-License-Identifier: GPL-2.0 */
/* CPU time from /proc/stat: since boot, or between two moments. */
#ifndef NICPROBE_LOAD_H
#define NICPROBE_LOAD_H

#include <stdint.h>
#include <stdio.h>

enum spent {		/* in the order of proc(5) */
	SPENT_USER, SPENT_NICE, SPENT_SYSTEM, SPENT_IDLE, SPENT_IOWAIT, SPENT_IRQ, SPENT_SOFTIRQ,
	SPENT_STEAL, NR_SPENT
};

/* Ticks of 10 ms (USER_HZ), by CPU number; none for offline CPUs. */
struct cpu_load {
	unsigned nr;			/* CPUs; 0: not read */
	uint64_t (*ticks)[NR_SPENT];
};

/* Reads the time since boot. 0 or -errno; call load_free() in any case. */
int load_read(struct cpu_load *);
/* The same from a file in the format of /proc/stat. */
int load_parse(FILE *, struct cpu_load *);
void load_free(struct cpu_load *);
/* Subtracts `before` from `now`, which has no CPUs if that is not possible. */
void load_diff(struct cpu_load *now, const struct cpu_load *before);
int load_copy(struct cpu_load *to, const struct cpu_load *from);	/* 0 or -ENOMEM */

/* The share of a CPU's time spent this way, 0 to 1; NAN: unknown, or the time is too short. */
double load_share(const struct cpu_load *, unsigned cpu, enum spent);
/* In interrupts and softirqs, including ksoftirqd (kernel/sched/cputime.c). */
double load_network(const struct cpu_load *, unsigned cpu);
double load_idle(const struct cpu_load *, unsigned cpu);

#endif
