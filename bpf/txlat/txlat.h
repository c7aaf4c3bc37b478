/* SPDX-License-Identifier: GPL-2.0 */
/* One TX queue: how long the driver had its packets, and which could not be followed. */
#ifndef NICPROBE_TXLAT_H
#define NICPROBE_TXLAT_H

#include "lib/core/abi.h"

enum txlat_lost {
	TXLAT_FULL,		/* not followed: the table of packets in flight was full */
	TXLAT_FREED_IN_XMIT,	/* freed before xmit returned: dropped or copied */
	TXLAT_MOVED,		/* it went on to another device, or its address was reused */
	TXLAT_NEVER_FREED,	/* sent again without a completion in between */
	NR_TXLAT_LOST
};

struct txlat {
	__u64 came, went;	/* packets the driver took; of these, no longer in flight */
	__u64 retried;		/* requeued (NETDEV_TX_BUSY) */
	__u64 lost[NR_TXLAT_LOST];
	/* Where all words above are 0, these are: the meter's `lead`. */
	HIST(completion, LOGLIN_SLOTS);
};

#endif
