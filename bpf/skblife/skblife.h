/* SPDX-License-Identifier: GPL-2.0 */
/* One stage of packets' lives, per direction and queue: times, present packets, ends. */
#ifndef NICPROBE_SKBLIFE_H
#define NICPROBE_SKBLIFE_H

#include "lib/core/abi.h"

/* The whole life, then the stages in order. */
enum skblife_stage {
	LIFE_WHOLE,
	LIFE_GRO,		/* received: from the driver to the stack */
	LIFE_STACK,		/* to the queue of a socket */
	LIFE_SOCKET,		/* until a program reads it */
	LIFE_QDISC,		/* sent: from the stack to the driver */
	LIFE_DRIVER,		/* until the driver frees it */
	NR_LIFE_STAGES
};

/* How a life ended. All but dropped ones are timed. */
enum skblife_end {
	LIFE_READ,		/* a program read it */
	LIFE_USED,		/* the kernel consumed it: ARP, ICMP, a TCP handshake */
	LIFE_FORWARDED,		/* another interface sends it */
	LIFE_SENT,		/* the driver completed it or passed it on */
	LIFE_DROPPED,
	NR_LIFE_ENDS
};

enum skblife_lost {
	LIFE_MERGED,		/* GRO merged it into another */
	LIFE_COALESCED,		/* TCP merged it into another */
	LIFE_SEGMENTED,		/* software GSO split it into new packets */
	LIFE_UNSEEN,		/* freed untraced: its address has been reused */
	LIFE_FULL,		/* no room to follow it */
	NR_LIFE_LOST
};

/* Sorts by memcmp() in the order shown, on every machine. */
struct skblife_key {
	__u8 sent;
	__u8 queue[2];		/* big endian; both 255: unknown */
	__u8 stage;
};
KEY_BYTES(struct skblife_key, 4);

struct skblife {
	__u64 came, went;	/* `came` first: tables sort by the first word */
	HIST(time, LOGLIN_SLOTS);
	__u64 ended[NR_LIFE_ENDS];
	__u64 lost[NR_LIFE_LOST];
};

#endif
