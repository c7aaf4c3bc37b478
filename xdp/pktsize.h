/* SPDX-License-Identifier: GPL-2.0 */
/* Size classes: those of RFC 2819, which switches and `ethtool -S` use, then jumbo and BIG TCP. */
#ifndef NICPROBE_PKTSIZE_H
#define NICPROBE_PKTSIZE_H

#include "lib/core/abi.h"

#define PKTSIZE_BOUNDS(B)							\
	B(0, 64) B(1, 127) B(2, 255) B(3, 511) B(4, 1023) B(5, 1518) B(6, 2047)	\
	B(7, 4095) B(8, 9216) B(9, 16383) B(10, 32767) B(11, 65535)
#define PKTSIZE_SLOTS	13	/* the last is unbounded */

struct pktsize {
	HIST(size, PKTSIZE_SLOTS);
	/* Corrections that turn these counts into the driver's; not metrics: */
	__u64 more_packets;	/* wire packets beyond one per buffer */
	__u64 more_bytes;	/* nic points: wire bytes beyond those of the buffers */
	__u64 padding;		/* tx-nic: bytes by which buffers fell short of config.tx_least */
	__u64 linear;		/* tx-nic, TX_LINEAR drivers: (segments - 1) * skb_headlen */
};

#endif
