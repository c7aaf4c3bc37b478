/* SPDX-License-Identifier: GPL-2.0 */
/* One interrupt on one CPU: how often, how long its handler took, and the polls it caused. */
#ifndef NICPROBE_IRQ_H
#define NICPROBE_IRQ_H

#include "lib/core/abi.h"

#define IRQ_NAME 48

struct irq_key {
	char name[IRQ_NAME];	/* given by its driver; stays when the number changes */
	__u32 irq, cpu;
	__s32 rx, tx;		/* the queues it serves; -1: none, -2: all */
	__u64 by_rank;		/* these queues are a guess from the order of the interrupts */
};
KEY_BYTES(struct irq_key, IRQ_NAME + 24);

struct irq {
	__u64 interrupts;
	__u64 unhandled;	/* of these, IRQ_NONE: a shared line, or no work left */
	__u64 polls;		/* on this CPU, of the NAPI that it serves */
	__u64 packets;		/* received by these polls */
	__u64 elsewhere;	/* polls caused by an interrupt on another CPU */
	HIST(handler, LOGLIN_SLOTS);
	HIST(to_poll, LOGLIN_SLOTS);
};

/* An interrupt of this device, or one that it may request later. */
struct irq_vector {
	struct irq_key key;
	__u64 stamp;		/* of the first interrupt since the last poll; 0: none */
	__u32 cpu;		/* where that was */
	__u32 strict;		/* another device uses this name: accept this number only */
};

#endif
