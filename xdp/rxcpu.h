/* SPDX-License-Identifier: GPL-2.0 */
/* What one CPU took from one receive queue. */
#ifndef NICPROBE_RXCPU_H
#define NICPROBE_RXCPU_H

#include "lib/core/abi.h"

struct rxcpu {
	__u64 packets, bytes;
	__u64 look;	/* not shown: the packet count at which `flow` samples next */
};

#endif
