/* SPDX-License-Identifier: GPL-2.0 */
/* How much time meters may take to follow packets: written to a map, where programs read it. */
#ifndef NICPROBE_PACING_H
#define NICPROBE_PACING_H

#include "lib/core/hook.h"
#include "lib/core/meta.h"

/* The tick of this kernel's clock, in ns. */
unsigned pacing_tick(void);

/* The plan of one of `meters` adapting meters; `yard`: yard_measure(). */
struct pace_plan pacing_plan(const struct meter *, unsigned meters, unsigned budget, unsigned tick,
			     double yard);

/* Writes the plans of all meters of meta->on that adapt. 0 or -errno and an error. */
int pacing_write(const struct site *, const struct meta *);

/* The same; those of `bits` begin: they have followed nothing yet. */
int pacing_begin(const struct site *, const struct meta *, __u64 bits);

#endif
