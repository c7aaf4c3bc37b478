/* SPDX-License-Identifier: GPL-2.0 */
/* The NAPI of one receive queue: its polls, who made them, what they took and how long. */
#ifndef NICPROBE_NAPI_H
#define NICPROBE_NAPI_H

#include "lib/core/abi.h"

enum napi_by {
	NAPI_SOFTIRQ,		/* softirq, at an interrupt's end or where they are let run */
	NAPI_KSOFTIRQD,		/* softirq, put off to the thread of its CPU */
	NAPI_THREAD,		/* a kernel thread of this NAPI */
	NAPI_BUSY_POLL,		/* a process that waits for packets */
	NAPI_NETPOLL,		/* netconsole and its like: for room to send, not for packets */
	NR_NAPI_BY
};

/* How the time of a poll was had. */
enum napi_timed { NAPI_EXACT, NAPI_BOUND, NAPI_UNTIMED, NR_NAPI_TIMED };

#define NAPI_WINDOW	100000	/* ns */
#define NAPI_LONG	10	/* the longer window is so many of the short */

/* Packets in the window that is not over yet. */
struct napi_window {
	__u64 nr, packets;
};

struct napi {
	HIST(work, COUNTS_SLOTS);	/* packets by poll */
	__u64 polls[NR_NAPI_BY];
	__u64 exhausted;		/* polls that took all they were allowed */
	__u64 squeezed;
	HIST(wait, LOGLIN_SLOTS);
	HIST(time, LOGLIN_SLOTS);
	__u64 timed[NR_NAPI_TIMED];
	HIST(burst, COUNTS_SLOTS);	/* packets by window */
	HIST(burst_long, COUNTS_SLOTS);
	HIST(run, COUNTS_SLOTS);	/* packets by row of exhausted polls */
	__u64 near;			/* runs that came near the ring's size */
	__u64 tx_polls;

	/* No metric: where this CPU is now. Last, as what is read last is never too old. */
	__u64 raised;			/* since when it waits for its poll; 0: it does not */
	__u64 running;			/* packets of the run so far */
	struct napi_window window, window_long;
};

#endif
