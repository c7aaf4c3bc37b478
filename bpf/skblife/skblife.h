/* SPDX-License-Identifier: GPL-2.0 */
/* One stage of the life of packets, by way and queue: how long, who is there, who ended there. */
#ifndef NICPROBE_SKBLIFE_H
#define NICPROBE_SKBLIFE_H

#include "lib/core/abi.h"

/* In the order of the way; the whole life first. */
enum skblife_stage {
	LIFE_WHOLE,
	LIFE_GRO,		/* received: from the driver to the stack */
	LIFE_STACK,		/* to the queue of a socket */
	LIFE_SOCKET,		/* until a program reads it */
	LIFE_QDISC,		/* sent: from the stack to the driver */
	LIFE_DRIVER,		/* until the driver lets go of it */
	NR_LIFE_STAGES
};

/* How a life ended. The first SKBLIFE_ENDS were seen and are timed; dropped ones are not timed. */
enum skblife_end {
	LIFE_READ,		/* a program read it */
	LIFE_USED,		/* the kernel itself used it up: ARP, ICMP, a TCP handshake */
	LIFE_FORWARDED,		/* another interface was given it to send */
	LIFE_SENT,		/* the driver completed it, or handed it on */
	LIFE_DROPPED,
	NR_LIFE_ENDS
};

enum skblife_lost {
	LIFE_MERGED,		/* GRO made it part of another */
	LIFE_COALESCED,		/* TCP made it part of another */
	LIFE_SEGMENTED,		/* software GSO made new ones of it */
	LIFE_UNSEEN,		/* freed without a trace: what is at its address now is another */
	LIFE_FULL,		/* no room to follow it */
	NR_LIFE_LOST
};

/* In the order in which rows are shown; bytes, so that every machine sorts them alike. */
struct skblife_key {
	__u8 sent;
	__u8 queue[2];		/* high byte first; both 255: unknown */
	__u8 stage;
};

struct skblife {
	__u64 came, went;	/* came first: the table shows most first */
	HIST(time, LOGLIN_SLOTS);
	__u64 ended[NR_LIFE_ENDS];
	__u64 lost[NR_LIFE_LOST];
};

#endif
