/* SPDX-License-Identifier: GPL-2.0 */
/* The frames that are sent: UDP in addresses kept for benchmarks, one flow or another of many. */
#ifndef NICPROBE_FRAME_H
#define NICPROBE_FRAME_H

#include <linux/types.h>
#include <stdbool.h>

#define FRAME_MAX	9234	/* an MTU of 9216, Ethernet and a VLAN tag */
#define FLOWS_MAX	60000

struct frame_spec {
	__u8 dst[6], src[6];
	unsigned size;		/* with the Ethernet header, without FCS */
	unsigned vlan;		/* 0: no tag */
	unsigned ecn;		/* 0 to 3, the two bits of the codepoint */
	bool ipv6;
};

/* Where in the frame stands what makes a flow: low halves of addresses, port, start of payload. */
struct frame_at {
	unsigned saddr, daddr, port, payload, end;
};

unsigned frame_least(const struct frame_spec *);	/* the smallest size */
struct frame_at frame_at(const struct frame_spec *);

/*
 * 198.18.0.1 + flow to 198.19.255.254 - flow (RFC 2544), or below 2001:2:: (RFC 5180), from port
 * 1024 + flow to 9. What one half gains another loses, payload too: so all flows have the same
 * checksums, and who has one frame needs no more than these four words for another.
 */
void frame_build(const struct frame_spec *, unsigned flow, __u8 *frame);
/* The four words alone. */
void frame_flow(const struct frame_spec *, unsigned flow, __u8 *frame);

#endif
