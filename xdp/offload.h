/* SPDX-License-Identifier: GPL-2.0 */
/* Why the kernel does the card's work in software: by transmit queue and feature. */
#ifndef NICPROBE_OFFLOAD_H
#define NICPROBE_OFFLOAD_H

#include "lib/core/abi.h"

#define OFFLOAD_ROWS	1024	/* in all; packets beyond are counted as lost */

enum why {
	WHY_NOT,		/* nothing is done in software */
	WHY_OFF,		/* the card can, but the feature is off */
	WHY_CANNOT,		/* the card or its driver cannot */
	WHY_NO_SG,		/* the card could with scatter-gather on… */
	WHY_NO_CHECKSUM,	/* …or with checksumming on */
	WHY_TUNNEL,		/* the card can, but not inside tunnels… */
	WHY_TAG,		/* …or not with a VLAN tag */
	NR_WHY
};

/* A bit of gso_type (plus NETIF_F_GSO_SHIFT, that of the feature), or one of these: */
enum feature {
	NR_GSO_FEATURES = 20,	/* Linux 6.18 */
	FEATURE_SIZE = 32,	/* a buffer larger than the card accepts */
	FEATURE_CHECKSUM,
	FEATURE_SG,
};

struct offload_key {
	__u32 queue;
	__u16 feature, why;
};
KEY_BYTES(struct offload_key, 8);

struct offload {
	__u64 packets, buffers;
};
#endif
