/* SPDX-License-Identifier: GPL-2.0 */
/* Why and where the kernel threw packets away. */
#ifndef NICPROBE_DROP_H
#define NICPROBE_DROP_H

#include <stdbool.h>

#include "lib/core/abi.h"

enum drop_direction {
	DROP_RX,
	DROP_TX,
	DROP_UNSURE,	/* received by an interface of this index, of a namespace nobody knows */
};

/* Whom it was for, where the reason does not tell: nobody here had asked for it. */
enum drop_for {
	DROP_FOR_ANY,
	DROP_FOR_GROUP,		/* a multicast group that no socket has joined */
	DROP_FOR_ALL,		/* a broadcast that nobody listens to */
	DROP_FOR_VLAN,		/* this host or another, in a VLAN that there is no device for */
	DROP_FOR_PORT,		/* a TCP port at which nothing listens: it was a SYN */
};

#define DROP_QUEUE_UNKNOWN	0xffff
#define DROP_NO_STACK		(-1)
#define DROP_STACKS	1024	/* different ones; each takes 256 bytes of their map */
#define DROP_STACK_DEPTH	32

#define DROP_REASONS		256	/* of the stack itself; 6.18 has 125 */

struct drop_reason {
	char name[48];
};

struct drop_key {
	__u64 location;		/* the instruction that freed it */
	__u32 reason;
	__s32 stack;		/* its id in the map drop_stack, negative: none */
	__u16 queue;
	__u8 direction;
	__u8 whom;		/* enum drop_for */
	__u8 unused[4];
};

/*
 * When it was last, for findings that are over: the last second in which one CPU dropped so many.
 * They are the least that findings speak of.
 */
#define DROP_SPELL_LEAST { 1, 10, 50 }
#define DROP_SPELLS	3

/* Seconds are of CLOCK_MONOTONIC, so of no time in which the machine slept. */
struct drop {
	__u64 packets, bytes;	/* on the wire: of a buffer, all that it holds; and in memory */
	__u64 more;		/* packets beyond one a buffer */
	__u64 buffers;		/* not of the map: settle() makes it of both */
	__u32 second, in_second;	/* the last one, and its packets so far */
	__u32 spell[DROP_SPELLS];	/* 0: none yet */
	__u32 tick;			/* of the clock interrupt, when `second` was asked for */
};

/* Why, as the kernel calls it, or nicprobe where the kernel has no name: "vlan-unknown". */
const char *drop_why(const struct drop_key *);
/* Who threw it away: "xdp", "tc", "qdisc", "netfilter", "socket", "driver", "kernel". */
const char *drop_who(const struct drop_key *);
/* Is it a function of a qdisc, where it drops a packet and is not itself thrown out? */
bool drop_at_qdisc(__u64 location);
/* …where it gives up a buffer of which it had cut packets, and all of these were dropped? */
bool drop_of_cut(__u64 location);

#endif
