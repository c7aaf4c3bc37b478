/* SPDX-License-Identifier: GPL-2.0 */
/* Readings of an aggregation, one after another: what was gathered between them. */
#ifndef NICPROBE_PROBES_READING_H
#define NICPROBE_PROBES_READING_H

#include "probes/run.h"

struct tracing_reading {
	struct gathered *rows;		/* gathered_free() them */
	int nr;
};

/*
 * Leaves in `now` what came since the reading `before`, the greatest figure first, and makes
 * `before` a copy of what `now` was. The number of rows that grew, which come first, or -ENOMEM.
 * Extremes are those of all readings.
 */
int reading_grown(const struct question *, struct gathered *now, int nr,
		  struct tracing_reading *before);

#endif
