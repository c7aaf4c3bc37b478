/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs that only count share with their reader. */
#ifndef BENCH_COUNTING_H
#define BENCH_COUNTING_H

#include <linux/types.h>

#include "xdp/pktsize.h"

#define COUNTING_CPUS	64	/* more share a row, which is exact as long as one CPU sends */
#define COUNTING_QUEUES	16

enum counted {
	COUNTED_TX_STACK, COUNTED_TX_NIC, COUNTED_RX_STACK, COUNTED_RX_NIC, COUNTED_PAST_GRO,
	COUNTED_DROPS, NR_COUNTED
};
#define COUNTING_DROPS	8	/* pairs of reason and place that have a row; the rest share one */

struct counting_row {
	__u64 packets, bytes;
	__u64 tick, in_tick;	/* of drops with figures: the last tick, and how many came in it */
};

/* Points that have figures of the default meters beside their packets and bytes. */
enum figures_at { FIGURES_RX_NIC, FIGURES_RX_STACK, NR_FIGURES };
#define FIGURES_SEGS	8

struct counting_figures {
	__u64 size[PKTSIZE_SLOTS];	/* as those of pktsize */
	__u64 ecn[4], no_ip;		/* frames by ECN field; without one */
	__u64 segs[FIGURES_SEGS];	/* buffers by their packets; the last: or more */
};

struct counting_drops {
	__u64 counted[3];	/* the packets that the first program counted: figures.bpf.h */
	__u64 preempt_count;	/* its address on this CPU; 0: not known yet */
	struct { __u64 place, reason; struct counting_row row; } at[COUNTING_DROPS];
	struct counting_row others;
};

#endif
