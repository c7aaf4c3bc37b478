/* SPDX-License-Identifier: GPL-2.0 */
/* Flows, estimated from one packet in N. */
#ifndef NICPROBE_FLOW_H
#define NICPROBE_FLOW_H

#include "lib/core/abi.h"

#define FLOW_SAMPLE	1024	/* one packet in so many is looked at, unless --sample says */

#define FLOWS		4096	/* kept, over all queues; the least recently seen is evicted */
#define FLOW_UNKNOWN	0xffff	/* queue */

struct flow_key {
	__u32 src[4], dst[4];	/* as on the wire; IPv4 in the first word */
	__u16 port[2];		/* as on the wire: source, destination; 0: none */
	__u16 queue;
	__u8 family;		/* 4, 6; 0: not IP, and port[0] is the EtherType */
	__u8 proto;
};
KEY_BYTES(struct flow_key, 40);

struct flow {
	__u64 packets, bytes;	/* estimated: samples times the sampling interval */
	__u64 samples;
};

/* The head of a packet from its EtherType on, padded with 0. */
#define FLOW_HEAD_AT	12
#define FLOW_HEAD_SIZE	74	/* two VLAN tags, the longest IPv4 header, ports; the type */
struct flow_head {
	__u16 unused;		/* aligns what follows the type, which is read in words */
	__u16 type;
	__u32 l3[18];
};

#endif
