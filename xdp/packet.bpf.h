/* SPDX-License-Identifier: GPL-2.0 */
/* A packet, parsed once, and passed to every packet meter. */
#ifndef NICPROBE_PACKET_BPF_H
#define NICPROBE_PACKET_BPF_H

#include <linux/if_ether.h>
#include <bpf/bpf_endian.h>

#include "lib/core/meter.bpf.h"
#include "xdp/ecn.h"
#include "xdp/gso.h"
#include "xdp/offload.h"

#define VLAN_TAG 4	/* bytes of an 802.1Q tag: TCI and the next EtherType */
#define IPV6_HEADERS 6	/* extension headers followed: real packets have fewer */
#define HEAD_SIZE (2 * VLAN_TAG + 40)	/* two tags and IPv6 */
#define HEAD_ALIGNED __attribute__((aligned(8)))	/* a copy of it: see packet_word() */

struct packet {
	enum point point;	/* constant where meter_packet() is called, so tests are free */
	__u32 row;		/* row_of(point, queue) */
	__u64 len;		/* bytes of the buffer, Ethernet header included, FCS not */
	__u32 segs;		/* wire packets in it: more than 1 after GRO, LRO or before GSO */
	__u32 seg_len;		/* then the bytes of each on the wire… */
	__u32 last_len;		/* …and of the last */
	__u64 ecn;		/* enum codepoint */
	__u8 ipv6;		/* the family of src */
	__u64 src[2];		/* source address, if ecn is CE; as on the wire, IPv4 first */
	__u64 linear;		/* tx-nic, with config.tx_linear: see struct pktsize */
	bool look;		/* to be sampled by flow_take() */
	bool counted;		/* rxcpu_count() ran already */
	/* Only if it is being sent and one of these meters is on: */
	__u8 work;		/* bits 1 << enum work: work left for it */
	__u8 why;		/* tx-stack: why software does some of it; 0: it does not… */
	__u8 feature;		/* …and the feature that would avoid that */
};

/* Does a VLAN tag follow this EtherType? */
static __always_inline bool is_vlan(__be16 type)
{
	return type == bpf_htons(ETH_P_8021Q) || type == bpf_htons(ETH_P_8021AD);
}

/* Is this an IPv6 extension header? */
static __always_inline bool ipv6_extends(__u8 type)
{
	return type == 0 || type == 43 || type == 44 || type == 51 || type == 60 || type == 135 ||
	       type == 139 || type == 140;
}

/* Its length, from its first two bytes: next header, and length. */
static __always_inline __u32 ipv6_extends_by(__u8 type, __u8 length)
{
	return type == 44 ? 8 : type == 51 ? (length + 2) * 4 : (length + 1) * 8;
}

static __always_inline bool point_is_nic(enum point point)
{
	return point == RX_NIC || point == TX_NIC;
}

/* Bytes on the wire, in total. */
static __always_inline __u64 packet_bytes(const struct packet *p)
{
	return p->segs > 1 ? (__u64)p->seg_len * (p->segs - 1) + p->last_len : p->len;
}

/*
 * Where this CPU counts a packet of this row, in the rows of each packet meter: all have the same
 * strides. False: nowhere, and that cannot be. Not a member of the packet, whose bounds would be
 * forgotten.
 */
static __always_inline bool packet_place(__u64 row, __u64 *at)
{
	__u64 own = own_nr(pktsize, row);

	if (SELDOM(own, >=, end[METER_pktsize]))
		return false;
	barrier_var(own);	/* it is used as it was compared */
	*at = own;
	return true;
}

#include "xdp/pktsize.bpf.h"
#include "xdp/ecn.bpf.h"
#include "xdp/ecn_source.bpf.h"
#include "xdp/flow.bpf.h"
#include "xdp/rxcpu.bpf.h"
#include "xdp/gso.bpf.h"
#include "xdp/offload.bpf.h"

/* `at`: of packet_place() */
static __always_inline void meter_packet_at(struct packet *p, __u64 at)
{
#define M(name)	if (meter_on(METER_##name)) name##_packet(p, at);
	PACKET_METERS(M)
#undef M
}

static __always_inline void meter_packet(struct packet *p)
{
	__u64 at;

	if (packet_place(p->row, &at))
		meter_packet_at(p, at);
}

/* Does any enabled meter need more of the packet than its length? */
static __always_inline bool packet_headers_wanted(void)
{
	return any_on(1 << METER_ecn | 1 << METER_ecn_source);
}

/* Does any enabled meter need the work left for the card? */
static __always_inline bool packet_work_wanted(void)
{
	return any_on(1 << METER_gso | 1 << METER_offload);
}

/* What an IP header that begins with these bytes says; ECN_NOT_IP: its version is another. */
static __always_inline __u64 ip_codepoint(__u8 first, __u8 second, bool ipv6)
{
	if (ipv6)
		return first >> 4 == 6 ? second >> 4 & 3 : ECN_NOT_IP;
	/* version 4, and IHL of at least 20 bytes */
	return LIKELY(first >= 0x45 && first <= 0x4f) ? second & 3 : ECN_NOT_IP;
}

/* Four bytes at once, as they lie: every copy of a header is aligned for that. */
static __always_inline __u64 packet_word(const __u8 *at)
{
	return *(const __u32 *)at;
}

static __always_inline void ipv4_parse(struct packet *p, const __u8 *b, const void *end)
{
	if ((void *)(b + 20) > end)
		return;
	p->ecn = ip_codepoint(b[0], b[1], false);
	barrier_var(p->ecn);	/* clang would keep a byte of it, and widen that */
	if (LIKELY(p->ecn != ECN_CE))
		return;
	p->ipv6 = 0;
	p->src[0] = packet_word(b + 12);
	p->src[1] = 0;
}

static __always_inline void ipv6_parse(struct packet *p, const __u8 *b, const void *end)
{
	if ((void *)(b + 40) > end)
		return;
	p->ecn = ip_codepoint(b[0], b[1], true);
	barrier_var(p->ecn);
	if (LIKELY(p->ecn != ECN_CE))
		return;
	p->ipv6 = 1;
	p->src[0] = packet_word(b + 8) | packet_word(b + 12) << 32;
	p->src[1] = packet_word(b + 16) | packet_word(b + 20) << 32;
}

/*
 * Parses the network header at `l3`, of EtherType `proto` (network order), after up to two VLAN
 * tags. Truncated headers count as not IP. `end` bounds the readable bytes: the frame for XDP and
 * tc, a copy for tracepoints.
 */
static __always_inline void packet_parse(struct packet *p, const void *l3, const void *end,
					 __be16 proto)
{
	const __u8 *b = l3;

	p->ecn = ECN_NOT_IP;
	if (LIKELY(proto == bpf_htons(ETH_P_IP))) {
		ipv4_parse(p, b, end);
		return;
	}
	for (int tags = 0; tags < 2; tags++) {
		if (!is_vlan(proto))
			break;
		if ((void *)(b + VLAN_TAG) > end)
			return;
		proto = *(__be16 *)(b + 2);
		b += VLAN_TAG;
	}
	if (proto == bpf_htons(ETH_P_IP))
		ipv4_parse(p, b, end);
	else if (proto == bpf_htons(ETH_P_IPV6))
		ipv6_parse(p, b, end);
}
#endif
