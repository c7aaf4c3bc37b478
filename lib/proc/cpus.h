/* SPDX-License-Identifier: GPL-2.0 */
/* Sets of CPUs, as /proc and sysfs write them. */
#ifndef NICPROBE_CPUS_H
#define NICPROBE_CPUS_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#define MAX_CPUS	8192	/* as many as a kernel can be built for */
#define CPUS_TEXT	64	/* most sets fit */

struct cpus {
	__u64 bits[MAX_CPUS / 64];
};

/* Read "0-3,8" or "ff,00000000"; a newline may follow. False: it is not; none is in it. */
bool cpus_from_list(struct cpus *, const char *list);
bool cpus_from_mask(struct cpus *, const char *mask);
/* The list; what finds no room is "…". Returns `text`, "" for none. */
char *cpus_text(const struct cpus *, char *text, size_t size);

void cpus_add(struct cpus *, unsigned cpu);
void cpus_add_all(struct cpus *, const struct cpus *);
bool cpus_has(const struct cpus *, unsigned cpu);
unsigned cpus_count(const struct cpus *);
unsigned cpus_common(const struct cpus *, const struct cpus *);	/* how many are in both */
int cpus_next(const struct cpus *, int cpu);	/* the first after it; -1: none. Begin with -1 */
bool cpus_same(const struct cpus *, const struct cpus *);
/* Is `b` what `a` becomes when every CPU in it moves on by `step`, which may be negative? */
bool cpus_shifted(const struct cpus *a, const struct cpus *b, int step);

#endif
