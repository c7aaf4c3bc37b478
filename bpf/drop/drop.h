/* SPDX-License-Identifier: GPL-2.0 */
/* Why and where the kernel dropped packets. */
#ifndef NICPROBE_DROP_H
#define NICPROBE_DROP_H

#include <stdbool.h>

#include "lib/core/abi.h"

enum drop_direction {
	DROP_RX,
	DROP_TX,
	DROP_UNSURE,	/* received by an interface with this index in an unknown namespace */
	NR_DROP_DIRECTIONS
};

/* Destination of a packet that nobody here wanted, if the reason does not tell. */
enum drop_for {
	DROP_FOR_ANY,
	DROP_FOR_GROUP,		/* a multicast group that no socket has joined */
	DROP_FOR_ALL,		/* a broadcast that nobody listens to */
	DROP_FOR_VLAN,		/* this host or another, in a VLAN without a device here */
	DROP_FOR_PORT,		/* a SYN to a TCP port at which nothing listens */
};

#define DROP_QUEUE_UNKNOWN	0xffff
#define DROP_NO_STACK		(-1)
#define DROP_STACKS	1024	/* different ones, 256 bytes each */
#define DROP_STACK_DEPTH	32

#define DROP_REASONS		256	/* of the core stack; 6.18 has 125 */

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
KEY_BYTES(struct drop_key, 24);

/*
 * For findings about the past: the last second in which one CPU dropped at least so many packets.
 * These are the thresholds of findings.
 */
#define DROP_SPELL_LEAST { 1, 10, 50 }
#define DROP_SPELLS	3
_Static_assert(sizeof((__u32[])DROP_SPELL_LEAST) == 4 * DROP_SPELLS, "one for each spell");

/* Seconds are those of CLOCK_MONOTONIC, which stops during suspend. */
struct drop {
	__u64 packets, bytes;	/* wire packets; bytes in memory */
	__u64 more;		/* packets beyond one per buffer */
	__u64 buffers;		/* not in the map: fixup() computes packets - more */
	__u32 second, in_second;	/* the last second, and packets in it so far */
	__u32 spell[DROP_SPELLS];	/* 0: none yet */
	__u32 tick;			/* jiffies when `second` was read from the clock */
};

/*
 * The first keys that a copy of the program meets on a CPU have rows in an array: to find one there
 * takes a fifth of the time that the hash takes. All others are in the hash. One copy alone writes
 * them, and it does not interrupt itself.
 */
#define DROP_NEAR 8
struct drop_near {
	struct drop_near_row {
		struct drop_key key;	/* its location 0: the row is free */
		__u64 check;		/* near_check(): the key is whole */
		struct drop row;
		__u64 unused[5];
	} at[DROP_NEAR];		/* by a hash of the key, each of two cache lines */
};
_Static_assert(sizeof(struct drop_near) == DROP_NEAR * 128, "two cache lines each");

enum drop_copy { DROP_FIRST, DROP_AGAIN, NR_DROP_COPIES };

#define DROP_KEY_WORDS	(sizeof(struct drop_key) / 8)

static inline __u64 near_check(const __u64 *key)
{
	return (key[0] ^ key[1] * 3 ^ key[2] * 5) | 1;
}

/* Why: the kernel's reason, or nicprobe's own if the kernel has none: "vlan-unknown". */
const char *drop_why(const struct drop_key *);
/* Who dropped it: "xdp", "tc", "qdisc", "netfilter", "socket", "driver", "kernel". */
const char *drop_who(const struct drop_key *);
/* Is it a function in which a qdisc drops a packet, other than by a reset of the qdisc? */
bool drop_at_qdisc(__u64 location);
/* …in which it frees a buffer after segmenting it and dropping all segments? */
bool drop_of_cut(__u64 location);

#endif
