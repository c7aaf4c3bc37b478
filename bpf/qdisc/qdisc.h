/* SPDX-License-Identifier: GPL-2.0 */
/* A TX queue and a kind of qdisc: how long packets waited, and what became of the others. */
#ifndef NICPROBE_QDISC_H
#define NICPROBE_QDISC_H

#include "lib/core/abi.h"

#define QDISC_KINDS	4	/* on one queue, one after the other */

struct qdisc_key {
	char kind[16];
	__u32 queue;
};

/*
 * Where a packet was freed for no reason that names a qdisc: the function will tell whether it is
 * one's (codel and cake drop so as they give out packets, up to 6.12).
 */
#define QDISC_PLACES	512
struct qdisc_place {
	struct qdisc_key at;
	__u32 followed;		/* 1: it is among the dropped "otherwise"; 0: it is not counted */
	__u64 location;
};

enum qdisc_dropped {
	QDISC_DROPPED,		/* by the qdisc: its reason says so */
	QDISC_DROPPED_OTHER,	/* thrown out with it, or not to be made ready to send */
	NR_QDISC_DROPPED
};

enum qdisc_lost {
	QDISC_FULL,		/* the table of waiting packets had no room: not followed */
	QDISC_SEGMENTED,	/* the qdisc split it on its way in, as tbf and cake do */
	QDISC_VANISHED,		/* its address came again, without an end that was seen */
	NR_QDISC_LOST
};

struct qdisc {
	__u64 came, went;	/* packets followed into the qdisc; of these, no longer in it */
	__u64 segmented;	/* timed ones that software GSO split on their way to the driver */
	__u64 refused;		/* hand-overs that the driver refused (NETDEV_TX_BUSY) */
	__u64 dropped[NR_QDISC_DROPPED];
	__u64 lost[NR_QDISC_LOST];
	HIST(wait, LOGLIN_SLOTS);
};

/* Counts `n` drops where they belong, if their place is a qdisc's. */
void qdisc_place_tell(struct qdisc *, const struct qdisc_place *, __u64 n);
#endif
