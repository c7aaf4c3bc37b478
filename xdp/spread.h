/* SPDX-License-Identifier: GPL-2.0 */
/* What the findings of rxcpu and flow ask each other: is a queue hot, and is it one flow? */
#ifndef NICPROBE_SPREAD_H
#define NICPROBE_SPREAD_H

#include "../lib/snapshot.h"

struct largest {		/* flow of a queue */
	bool known;		/* enough of them were seen to tell */
	double share;		/* of the packets of the queue, 0 to 1; estimated */
	unsigned flows;		/* that were seen */
	const char *name;	/* in a buffer that goes round */
};

/* flow.c; queue -1: of all queues. Not known where flow is off. */
struct largest flow_largest(const struct snapshot *, int queue);

/* To move a smaller one leaves enough behind for the queue to have more than others. */
static inline bool flow_fills(const struct largest *l)
{
	return l->known && l->share >= .5;
}

/* rxcpu.c: does the queue have far more than its share, or is there only one, and one CPU? */
bool queue_is_hot(const struct snapshot *, unsigned queue);
double queue_share(const struct snapshot *, unsigned queue);	/* of all packets, 0 to 1 */

#endif
