/* SPDX-License-Identifier: GPL-2.0 */
/* What the fuzzer makes up: the way that a packet takes, and what the kernel knows of it. */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <linux/types.h>

enum way { XDP, TC, DRIVER, FRAGS, STACK, QUEUE, XMIT, NR_WAYS };

enum flag {
	NO_LINK_HEADER = 1,	/* a device without: tun */
	TAG_BESIDE = 2,		/* the kernel holds a VLAN tag beside the data */
	RECORDED = 4,		/* queue_mapping is queue + 1 */
	NO_DYNPTR = 8,		/* a kernel where only the linear part can be read */
	GENERIC = 8,		/* XDP that knows its queue from the skb */
	NO_ROOM = 16,		/* in the map of CE sources */
	TCP = 32,		/* gso_type */
	ENCAPSULATED = 64,
	NOT_OURS = 128,		/* another device, or the same number in another namespace */
};

/* An input is this, then a frame. tests/fuzz/seeds.py makes some. */
struct input {
	__u8 way, on, queue, flags;
	__u16 linear;		/* bytes of the frame that are linear, at the most */
	__u16 paged;		/* bytes of the packet after the frame */
	__u16 gso_size, gso_segs;
	__u16 transport;	/* header, from the network header */
	__u16 rc;		/* what the driver returned; and ip_summed */
	__u32 gso_type;		/* beside the protocol */
	__u32 features, can, asked, inside;	/* of the device: features_of() */
	__u16 most_bytes, most_segs;		/* it takes in a buffer */
} __attribute__((packed));

#endif
