/* SPDX-License-Identifier: GPL-2.0 */
/* What is left to do for sent packets: by the kernel or the card, and at tx-nic by the card. */
#ifndef NICPROBE_GSO_H
#define NICPROBE_GSO_H

#include "lib/core/abi.h"

enum work {
	WORK_SEGMENT,		/* its buffer is to be split into wire packets */
	WORK_CHECKSUM,		/* its checksum is to be filled in */
	WORK_GATHER,		/* its data is in several pieces */
	NR_WORK
};

struct gso {
	HIST(size, SEGS_SLOTS);	/* buffers, by the wire packets in them */
	__u64 left[NR_WORK];	/* wire packets */
};
#endif
