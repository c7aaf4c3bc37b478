/* SPDX-License-Identifier: GPL-2.0 */
/* Sets of CPUs, as /proc and sysfs write them. */
#ifndef NICPROBE_CPUS_H
#define NICPROBE_CPUS_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#define MAX_CPUS	8192	/* the most a kernel can be built for */
#define CPUS_TEXT	64	/* enough for most sets */

struct cpus {
	__u64 bits[MAX_CPUS / 64];
};

/* Parse "0-3,8" or "ff,00000000", with or without a newline. False: invalid; the set is empty. */
bool cpus_from_list(struct cpus *, const char *list);
bool cpus_from_mask(struct cpus *, const char *mask);
/* Writes the list; "…" replaces what does not fit. Returns `text`, "" for the empty set. */
char *cpus_text(const struct cpus *, char *text, size_t size);

void cpus_add(struct cpus *, unsigned cpu);
void cpus_add_all(struct cpus *, const struct cpus *);
bool cpus_has(const struct cpus *, unsigned cpu);
unsigned cpus_count(const struct cpus *);
unsigned cpus_common(const struct cpus *, const struct cpus *);	/* size of the intersection */
int cpus_next(const struct cpus *, int cpu);	/* the next one after it; -1: none. Begin with -1 */
/* One more than the highest number that a CPU of this machine may ever have. */
unsigned cpus_end(void);
bool cpus_same(const struct cpus *, const struct cpus *);
/* Is `b` the set `a` with every CPU shifted by `step`, which may be negative? */
bool cpus_shifted(const struct cpus *a, const struct cpus *b, int step);

#endif
