/* SPDX-License-Identifier: GPL-2.0 */
/* The NAPI of one receive queue: its polls, who polled, packets and times. */
#ifndef NICPROBE_NAPI_H
#define NICPROBE_NAPI_H

#include "lib/core/abi.h"

enum napi_by {
	NAPI_SOFTIRQ,		/* softirq, after an interrupt or when softirqs are enabled */
	NAPI_KSOFTIRQD,		/* softirq, deferred to ksoftirqd */
	NAPI_THREAD,		/* the kernel thread of this NAPI */
	NAPI_BUSY_POLL,		/* a process that waits for packets */
	NAPI_NETPOLL,		/* netconsole and the like: to free the TX ring, not to receive */
	NR_NAPI_BY
};

/* How well the time of a poll is known. */
enum napi_timed { NAPI_EXACT, NAPI_BOUND, NAPI_UNTIMED, NR_NAPI_TIMED };

#define NAPI_WINDOW	100000	/* ns */
#define NAPI_LONG	10	/* short windows per long one */

/* Packets in the current window. */
struct napi_window {
	__u64 nr, packets;
};

struct napi {
	HIST(work, COUNTS_SLOTS);	/* packets per poll */
	__u64 polls[NR_NAPI_BY];
	__u64 exhausted;		/* polls that used up their budget */
	__u64 squeezed;
	__u64 tx_polls;
	/* Where all words above are 0, these are: the meter's `lead`. */
	HIST(wait, LOGLIN_SLOTS);
	HIST(time, LOGLIN_SLOTS);
	__u64 timed[NR_NAPI_TIMED];
	HIST(burst, COUNTS_SLOTS);	/* packets per window */
	HIST(burst_long, COUNTS_SLOTS);
	HIST(run, COUNTS_SLOTS);	/* packets per run of exhausted polls */
	__u64 near;			/* runs that came near the ring's size */

	/* Not metrics but this CPU's state. Last, so that it is read last and not stale. */
	__u64 raised;			/* since when it waits for its poll; 0: it does not */
	__u64 running;			/* packets of the run so far */
	struct napi_window window, window_long;
};

#endif
