/* SPDX-License-Identifier: GPL-2.0 */
/* One TX queue and kind of qdisc: how long packets waited, and those that were not sent. */
#ifndef NICPROBE_QDISC_H
#define NICPROBE_QDISC_H

#include "lib/core/abi.h"

#define QDISC_KINDS	4	/* on one queue over time */

struct qdisc_key {
	char kind[16];
	__u32 queue;
};
KEY_BYTES(struct qdisc_key, 20);

/*
 * Location of a drop whose reason names no qdisc: the function tells whether it is a qdisc's (drops
 * of codel and cake at dequeue, up to 6.12).
 */
#define QDISC_PLACES	512
struct qdisc_place {
	struct qdisc_key at;
	__u32 followed;		/* 1: counted as dropped "otherwise"; 0: not counted */
	__u64 location;
};

enum qdisc_dropped {
	QDISC_DROPPED,		/* by the qdisc, according to the reason */
	QDISC_DROPPED_OTHER,	/* destroyed with the qdisc, or not fit to send */
	NR_QDISC_DROPPED
};

enum qdisc_lost {
	QDISC_FULL,		/* not followed: the table of waiting packets was full */
	QDISC_SEGMENTED,	/* the qdisc split it at enqueue, as tbf and cake do */
	QDISC_VANISHED,		/* its address was reused although its end was not seen */
	NR_QDISC_LOST
};

struct qdisc {
	__u64 came, went;	/* packets followed into the qdisc; of these, no longer in it */
	__u64 segmented;	/* timed packets split by software GSO on their way to the driver */
	__u64 refused;		/* requeued (NETDEV_TX_BUSY) */
	__u64 dropped[NR_QDISC_DROPPED];
	__u64 lost[NR_QDISC_LOST];
	HIST(wait, LOGLIN_SLOTS);
};

/* Moves `n` drops to the right counter of a row if their location is in a qdisc. */
void qdisc_place_tell(struct qdisc *, const struct qdisc_place *, __u64 n);
#endif
