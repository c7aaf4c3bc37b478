/* SPDX-License-Identifier: GPL-2.0 */
/* Why the kernel does itself what a card may do: by transmit queue and feature. */
#ifndef NICPROBE_OFFLOAD_H
#define NICPROBE_OFFLOAD_H

#include "lib/core/abi.h"

#define OFFLOAD_ROWS	1024	/* in all; more are counted as lost */

enum why {
	WHY_NOT,		/* nothing is done in software */
	WHY_OFF,		/* the card can, and is told not to */
	WHY_CANNOT,		/* the card or its driver cannot */
	WHY_NO_SG,		/* it could, if scatter-gather were on… */
	WHY_NO_CHECKSUM,	/* …or checksumming */
	WHY_TUNNEL,		/* it can, but not inside tunnels… */
	WHY_TAG,		/* …or not with a VLAN tag */
	NR_WHY
};

/* A bit of gso_type: NETIF_F_GSO_SHIFT above it is that of the feature. Or one of these: */
enum feature {
	NR_GSO_FEATURES = 20,	/* Linux 6.18 */
	FEATURE_SIZE = 32,	/* more in a buffer than the card takes */
	FEATURE_CHECKSUM,
	FEATURE_SG,
};

struct offload_key {
	__u32 queue;
	__u16 feature, why;
};

struct offload {
	__u64 packets, buffers;
};
#endif
