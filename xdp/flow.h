/* SPDX-License-Identifier: GPL-2.0 */
/* What a flow is, and how much of it was seen: estimated, from one packet in so many. */
#ifndef NICPROBE_FLOW_H
#define NICPROBE_FLOW_H

#include <linux/types.h>

#define FLOW_SAMPLE	1024	/* one packet in so many is looked at, unless --sample says */

#define FLOWS		4096	/* kept: the last seen, on all queues */
#define FLOW_UNKNOWN	0xffff	/* queue */

struct flow_key {
	__u32 src[4], dst[4];	/* as on the wire; IPv4 in the first word */
	__u16 port[2];		/* as on the wire: source, destination; 0: it has none */
	__u16 queue;
	__u8 family;		/* 4, 6; 0: not IP, and port[0] is its EtherType */
	__u8 proto;
};

struct flow {
	__u64 packets, bytes;	/* estimated: those looked at, times one in so many */
	__u64 samples;
};

/* The beginning of a packet: the EtherType, what follows it; 0 where it is shorter. */
#define FLOW_HEAD_AT	12
#define FLOW_HEAD_SIZE	74	/* two VLAN tags, the longest IPv4 header, ports; the type */
struct flow_head {
	__u16 unused;		/* what follows the type is read as words */
	__u16 type;
	__u32 l3[18];
};

#endif
