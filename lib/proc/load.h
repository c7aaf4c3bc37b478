/* SPDX-License-Identifier: GPL-2.0 */
/* What each CPU spent its time on: /proc/stat, at one moment or between two. */
#ifndef NICPROBE_LOAD_H
#define NICPROBE_LOAD_H

#include <stdint.h>
#include <stdio.h>

enum spent {		/* in the order of proc(5) */
	SPENT_USER, SPENT_NICE, SPENT_SYSTEM, SPENT_IDLE, SPENT_IOWAIT, SPENT_IRQ, SPENT_SOFTIRQ,
	SPENT_STEAL, NR_SPENT
};

/* Ticks of 10 ms (USER_HZ), by CPU number. One that is offline has none. */
struct cpu_load {
	unsigned nr;			/* CPUs; 0: it was not read */
	uint64_t (*ticks)[NR_SPENT];
};

/* As of now, since boot. 0 or -errno; load_free() whatever comes back. */
int load_read(struct cpu_load *);
/* The same of a file that reads as /proc/stat does. */
int load_parse(FILE *, struct cpu_load *);
void load_free(struct cpu_load *);
/* `now` becomes what was spent since `before`; it has no CPUs where that is not known. */
void load_diff(struct cpu_load *now, const struct cpu_load *before);
int load_copy(struct cpu_load *to, const struct cpu_load *from);	/* 0 or -ENOMEM */

/* The share of its time that a CPU spent so, 0 to 1; NAN: not known, or too short a time. */
double load_share(const struct cpu_load *, unsigned cpu, enum spent);
/* In interrupts and softirqs; the ticks of ksoftirqd are among them (kernel/sched/cputime.c). */
double load_network(const struct cpu_load *, unsigned cpu);
double load_idle(const struct cpu_load *, unsigned cpu);

#endif
