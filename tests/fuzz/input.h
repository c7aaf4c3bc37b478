/* SPDX-License-Identifier: GPL-2.0 */
/* Input of the fuzzer: the path of a packet, and what the kernel knows about it. */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <linux/types.h>

enum way { XDP, TC, DRIVER, FRAGS, STACK, QUEUE, XMIT, NR_WAYS };

enum flag {
	NO_LINK_HEADER = 1,	/* a device without link header: tun */
	TAG_BESIDE = 2,		/* the VLAN tag is in the skb, not in the data */
	RECORDED = 4,		/* queue_mapping is queue + 1 */
	NO_DYNPTR = 8,		/* an old kernel: only the linear part is readable */
	GENERIC = 8,		/* generic XDP, which takes the queue from the skb */
	NO_ROOM = 16,		/* the maps of flows and features are full */
	TCP = 32,		/* gso_type */
	ENCAPSULATED = 64,
	NOT_OURS = 128,		/* another device, or the same ifindex in another namespace */
};

/* An input is this struct followed by a frame; tests/fuzz/seeds.py makes some. */
struct input {
	__u8 way, on, queue, flags;
	__u16 linear;		/* maximum linear bytes of the frame */
	__u16 paged;		/* bytes of the packet after the frame */
	__u16 gso_size, gso_segs;
	__u16 transport;	/* offset of the transport header from the network header */
	__u16 rc;		/* return value of the driver; and ip_summed */
	__u32 gso_type;		/* besides the protocol */
	__u32 features, can, asked, inside;	/* of the device: features_of() */
	__u16 most_bytes, most_segs;		/* limits of a buffer */
} __attribute__((packed));

#endif
