/* SPDX-License-Identifier: GPL-2.0 */
/* Work left for sent packets: for kernel or card at tx-stack, for the card at tx-nic. */
#ifndef NICPROBE_GSO_H
#define NICPROBE_GSO_H

#include "lib/core/abi.h"

enum work {
	WORK_SEGMENT,		/* split the buffer into wire packets */
	WORK_CHECKSUM,		/* fill in the checksum */
	WORK_GATHER,		/* gather data from several pieces */
	NR_WORK
};

struct gso {
	HIST(size, SEGS_SLOTS);	/* buffers, by the wire packets in them */
	__u64 left[NR_WORK];	/* wire packets */
};
#endif
