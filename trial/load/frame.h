/* SPDX-License-Identifier: GPL-2.0 */
/* Generated frames: UDP between addresses reserved for benchmarks, in any number of flows. */
#ifndef NICPROBE_FRAME_H
#define NICPROBE_FRAME_H

#include <linux/types.h>
#include <stdbool.h>

#define FRAME_MAX	9234	/* an MTU of 9216, Ethernet and a VLAN tag */
#define FLOWS_MAX	60000

struct frame_spec {
	__u8 dst[6], src[6];
	unsigned size;		/* with Ethernet header, without FCS */
	unsigned vlan;		/* 0: no tag */
	unsigned ecn;		/* 0 to 3, the two bits of the codepoint */
	bool ipv6;
};

/* Offsets of the words that differ between flows: low halves of addresses, port, payload start. */
struct frame_at {
	unsigned saddr, daddr, port, payload, end;
};

unsigned frame_least(const struct frame_spec *);	/* the smallest size */
struct frame_at frame_at(const struct frame_spec *);

/*
 * Build a frame from 198.18.0.1 + flow to 198.19.255.254 - flow (RFC 2544), or in 2001:2::/48
 * (RFC 5180), from port 1024 + flow to 9. Source and destination add up to a constant, and so do
 * port and payload: all flows have the same checksums, and only these four words differ.
 */
void frame_build(const struct frame_spec *, unsigned flow, __u8 *frame);
/* Write only the four words of a flow. */
void frame_flow(const struct frame_spec *, unsigned flow, __u8 *frame);

#endif
