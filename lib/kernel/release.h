/* SPDX-License-Identifier: GPL-2.0 */
/* What the version of this kernel says of it, where nothing else does. */
#ifndef NICPROBE_RELEASE_H
#define NICPROBE_RELEASE_H

#include <stdbool.h>

/*
 * Is what a driver is done with left to the CPU that made it? napi_consume_skb() does that since
 * 6.19, by skb_attempt_defer_free(); before, that one took only what sockets had read.
 */
bool release_defers(void);

/* Is it older than this KERNEL()? */
bool release_before(unsigned kernel);

/* Need our programs listen at this function? At one they may have, only since a version. */
bool release_needs(const char *function);

/*
 * May a task be put aside for another in a program at a tracepoint? Since 7.0 (__DO_TRACE() under
 * SRCU); before, preemption was off there, with PREEMPT_RT, too.
 */
bool release_preempts(void);

/* Is it one with PREEMPT_RT? There a task may be put aside where softirqs are off, too. */
bool release_realtime(void);

#endif
