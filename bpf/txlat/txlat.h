/* SPDX-License-Identifier: GPL-2.0 */
/* One TX queue: how long its packets were with the driver, and which could not be followed. */
#ifndef NICPROBE_TXLAT_H
#define NICPROBE_TXLAT_H

#include "lib/core/abi.h"

enum txlat_lost {
	TXLAT_FULL,		/* the table of packets in flight had no room: not followed */
	TXLAT_FREED_IN_XMIT,	/* the driver freed it before it returned: dropped, or copied */
	TXLAT_MOVED,		/* it went on to another device, or the address was used again */
	TXLAT_NEVER_FREED,	/* handed over anew without a completion in between */
	NR_TXLAT_LOST
};

struct txlat {
	__u64 came, went;	/* packets the driver took; of these, no longer in flight */
	__u64 retried;		/* hand-overs that the driver refused (NETDEV_TX_BUSY) */
	__u64 lost[NR_TXLAT_LOST];
	HIST(completion, LOGLIN_SLOTS);
};

#endif
