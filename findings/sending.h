/* SPDX-License-Identifier: GPL-2.0 */
/* What the findings about sending share: completions, moderation, byte queue limits. */
#ifndef NICPROBE_SENDING_H
#define NICPROBE_SENDING_H

#include "bpf/bql/bql.h"
#include "findings/evidence.h"

/* Seconds that the driver has a packet of this queue, the median; NAN: it is not known. */
double completion_median(const struct evidence *, unsigned queue);

/* What the meter bql has of a transmit queue; NULL: nothing. */
const struct bql *bql_of(const struct evidence *, unsigned queue);

/* Microseconds, or packets, that moderation holds completions back; as it is set now. */
struct moderation {
	long long usecs, frames;
	bool adaptive;
};
struct moderation moderation(struct evidence *);

#endif
