/* SPDX-License-Identifier: GPL-2.0 */
/* The page pools of one receive queue. */
#ifndef NICPROBE_POOL_H
#define NICPROBE_POOL_H

#include "lib/core/abi.h"

struct pool {
	__u64 came, went;	/* pages ever taken and returned */
	__u64 taken, returned;	/* …since attach */
};

#endif
