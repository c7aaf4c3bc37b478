/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs that only count share with their reader. */
#ifndef BENCH_COUNTING_H
#define BENCH_COUNTING_H

#include <linux/types.h>

#define COUNTING_CPUS	64	/* more share a row, which is exact as long as one CPU sends */
#define COUNTING_QUEUES	16

enum counted {
	COUNTED_TX_STACK, COUNTED_TX_NIC, COUNTED_RX_STACK, COUNTED_RX_NIC, COUNTED_PAST_GRO,
	COUNTED_DROPS, NR_COUNTED
};
#define COUNTING_DROPS	8	/* pairs of reason and place that have a row; the rest share one */

struct counting_row {
	__u64 packets, bytes;
};

struct counting_drops {
	__u64 counted;		/* the packet that the first program at the event has counted */
	struct { __u64 place, reason; struct counting_row row; } at[COUNTING_DROPS];
	struct counting_row others;
};

#endif
