/* SPDX-License-Identifier: GPL-2.0 */
/* What user space tells programs: whose interrupts are whose, changes of links, timers. */
#ifndef NICPROBE_PROBES_TOLD_H
#define NICPROBE_PROBES_TOLD_H

#include <linux/types.h>

/* An interrupt, by the name that its driver gave it; cut to this length. */
struct irq_handler {
	char name[48];
};

struct irq_known {
	__u32 ifindex;
	__u32 only;		/* another interrupt has this name: only this number; 0: any */
	__s32 queue;		/* -1: it serves none, or several */
	__u32 unused;
	char if_name[16];
	char serves[16];
};

/* The carrier of an interface came or went. */
struct link_change {
	__u32 ifindex;
	__u8 up, loopback, unused[2];
	char name[16];
};

/* Timers of TCP, by the function that runs when they run out. */
enum tcp_timer { TIMER_KEEPALIVE, TIMER_WRITE, TIMER_DELACK, NR_TCP_TIMERS };

/* Who stopped a transmit queue. */
enum stopper { STOPPER_DRIVER = 1, STOPPER_BQL };

#endif
