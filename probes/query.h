/* SPDX-License-Identifier: GPL-2.0 */
/* What `trace` asks of each event: a filter, keys and an aggregation; constants of the programs. */
#ifndef NICPROBE_PROBES_QUERY_H
#define NICPROBE_PROBES_QUERY_H

#include <linux/types.h>

#define QUERY_TERMS	16
#define QUERY_KEYS	8
#define QUERY_KEY_BYTES	64	/* of all keys together */

enum term_op { OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE, OP_ANY, OP_NONE };

/*
 * One comparison: (field & mask) OP val. For 16 bytes both halves are compared, and only OP_EQ and
 * OP_NE make sense. OP_ANY, OP_NONE: some bit of mask is set, or none is.
 */
struct term {
	__u16 offset;		/* of the field in struct probe_event */
	__u8 size;		/* 1, 2, 4, 8, or 16 */
	__u8 op;		/* enum term_op */
	__u8 is_signed;
	__u8 group;		/* enum event_group: an event without it makes the term false */
	__u8 ends;		/* the last of a conjunction: || follows, or nothing */
	__u8 unused;
	__u64 mask[2], val[2];	/* as the field lies in memory */
};

struct part {			/* of the key */
	__u16 offset;
	__u8 size;		/* 1, 2, 4, 8, 16, or 6: a MAC address */
	__u8 group;
	__u32 at;		/* where it goes in the key, after `absent` */
};

enum aggregation { AGG_PRINT, AGG_COUNT, AGG_SUM, AGG_MIN, AGG_MAX, AGG_AVG, AGG_QUANTIZE,
		   AGG_LQUANTIZE };

/* What one event contributes. */
struct measure {
	__u16 offset;
	__u8 size, is_signed, group, unused[3];
};

/* Slots of quantize: values below 0 by size, 0, values above 0 by size. */
#define QUANTIZE_BITS	64
#define QUANTIZE_ZERO	QUANTIZE_BITS
#define QUANTIZE_SLOTS	(2 * QUANTIZE_BITS + 1)
/* Slots of lquantize: below LO, the steps, HI or more. */
#define LQUANTIZE_MOST	1024

/* What a time belongs to: one or two fields, which are all there. */
#define ON_PARTS	2
struct since_key {
	__u8 bytes[ON_PARTS * 16];
};

/*
 * A comparison without which the filter does not hold, and which a look at the packet decides
 * before an event is made.
 */
enum peek { PEEK_NONE, PEEK_INTERFACE, PEEK_PROTOCOL, PEEK_SPORT, PEEK_DPORT, PEEK_SADDR,
	    PEEK_DADDR };

/* A bit for each stable probe: 1 << enum stable_probe. */
#define PROBE_WORDS	2

struct query {
	__u64 since[PROBE_WORDS];	/* the probes that begin a time */
	__u64 netns;		/* cookie; 0: all */
	__u32 ifindex;		/* 0: all */
	__u64 need;		/* 1 << GROUP_x that are read: for filter, keys, measure, output */
	__u64 early;		/* those that are filled before the filter; 0: all */
	__u64 filter_need;	/* those of the filter: they are read before it */
	__u32 aggregation;	/* enum aggregation */
	__u32 nr_terms, nr_parts;
	__u32 key_size;		/* bytes, `absent` included */
	__u32 slots;		/* of lquantize and quantize; 0: none */
	__s64 low, step;	/* of lquantize */
	__u32 delta;		/* the time since the previous event with the same `on` */
	__u32 nr_on;		/* parts of the key of times */
	__u32 peek;		/* enum peek: of what */
	__u32 snaplen;		/* bytes of each packet that are sent with its event; 0: none */
	__u32 ethernet;		/* packets are from their Ethernet header on, not from that of IP */
	struct term peeked;
	struct measure measure;
	struct term term[QUERY_TERMS];
	struct part part[QUERY_KEYS], on[ON_PARTS];
};

/* A function or tracepoint that is traced by its name in the kernel: at most so many. */
#define RAW_MOST	512
#define RAW_ARGS	6
/* In programs that are copied: where the number of the spot goes. */
#define RAW_MARK	0x5d0752617753706full
#define RAW_MARK_TEXT	"0x5d0752617753706f"
#define RAW_SIGNED	0x10	/* with the bytes of a value: the highest bit is its sign */
struct raw_spot {
	__u32 function, module;	/* the first spot with this name, and with this module */
	__u8 probe;		/* enum stable_probe */
	__u8 begins;		/* named by --since */
	__u8 nr_args;		/* those that are scalars, from the first on */
	__u8 width[RAW_ARGS + 1];	/* bytes of each, and of what it returns; 0: nothing */
	__u8 unused[2];
};

/*
 * The key of an aggregation: which parts are absent, then the parts. On one CPU programs that
 * interrupt each other have keys of their own: KEY_PLACE. Who reads adds them up.
 */
#define KEY_PLACE	56
struct query_key {
	__u64 absent;		/* 1 << part; and the place of the event << KEY_PLACE */
	__u8 bytes[QUERY_KEY_BYTES];
};

/*
 * The value of an aggregation, for each CPU; `slot` has query.slots. A new one is all zeros, so the
 * extremes are kept as distances that only grow.
 */
struct aggregate {
	__u64 n;
	__s64 sum;
	__u64 below;		/* INT64_MAX - the least value */
	__u64 above;		/* the greatest value - INT64_MIN */
	__u64 slot[];
};

#define STACK_DEPTH	64
#define STACKS_MOST	16384

/* What was lost, for each CPU: counted, and printed. */
enum loss {
	LOST_KEY,		/* no room for a new key */
	LOST_EVENT,		/* no room in the ring */
	LOST_NESTED,		/* too many programs interrupted each other */
	LOST_TIME,		/* no room for the beginning of a time */
	LOST_HEADER,		/* headers that are not in linear memory */
	LOST_LINK,		/* packets without the header that a file of packets begins with */
	LOST_STACK,		/* no room for a stack */
	LOST_CALL,		/* no room to note that a call or a timer began */
	NR_LOSSES
};

#endif
