/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs that only count share with their reader. */
#ifndef BENCH_COUNTING_H
#define BENCH_COUNTING_H

#include <linux/types.h>

#define COUNTING_CPUS	64	/* more share a row, which is exact as long as one CPU sends */
#define COUNTING_QUEUES	16

enum counted {
	COUNTED_TX_STACK, COUNTED_TX_NIC, COUNTED_RX_STACK, COUNTED_RX_NIC, COUNTED_DROPS,
	NR_COUNTED
};

struct counting_row {
	__u64 packets, bytes;
};

#endif
