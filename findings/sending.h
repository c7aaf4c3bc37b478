/* SPDX-License-Identifier: GPL-2.0 */
/* What the findings about sending share: completions, moderation, byte queue limits. */
#ifndef NICPROBE_SENDING_H
#define NICPROBE_SENDING_H

#include "bpf/bql/bql.h"
#include "findings/evidence.h"

/* Median seconds from xmit to completion of this queue; NAN: unknown. */
double completion_median(const struct evidence *, unsigned queue);

/* Packets of this queue that completed in the window. */
uint64_t completed_of(const struct evidence *, unsigned queue);

/* A transmit queue's row of the meter bql; NULL: none. */
const struct bql *bql_of(const struct evidence *, unsigned queue);

/* Transmit moderation as set now: microseconds or packets by which completions are delayed. */
struct moderation {
	long long usecs, frames;
	bool adaptive;
};
struct moderation moderation(struct evidence *);

#endif
