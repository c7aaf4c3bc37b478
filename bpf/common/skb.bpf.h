/* SPDX-License-Identifier: GPL-2.0 */
/* From an skb at a tracepoint to a struct packet: its queue, segments and headers. */
#ifndef NICPROBE_SKB_BPF_H
#define NICPROBE_SKB_BPF_H

#include "xdp/packet.bpf.h"
#include "bpf/common/dev.bpf.h"
#include "bpf/common/vlan.bpf.h"

#define GSO_TCP		(1 << 0 | 1 << 4)	/* SKB_GSO_TCPV4 and _TCPV6, the same since 4.0 */
#define UDP_HEADER	8
#define IPV6_TLV_JUMBO	194

/* Bytes of a VLAN tag kept outside the packet data: 0 or 4. */
static __always_inline __u32 skb_vlan_len(const struct sk_buff *skb)
{
	return skb_has_tag(skb) ? VLAN_TAG : 0;
}

/* The receive queue, by the most reliable source available; ~0: not known. */
static __always_inline __u32 skb_rx_queue(const struct sk_buff *skb,
					  const struct net_device *dev)
{
	__u32 recorded, id;

	if (TOLD(rx_queues) == 1)
		return 0;
	recorded = skb->queue_mapping;
	if (TOLD(rx_queue) == RX_QUEUE_RAW)
		return recorded;
	if (TOLD(rx_queue) == RX_QUEUE_RECORDED && recorded)
		return recorded - 1;
	id = skb->napi_id;
	return id ? napi_queue_of(dev, id) : ~0u;
}

/* A byte at an address; 0: nothing can be read there. */
static __always_inline __u8 byte_at(const unsigned char *at)
{
	const struct iphdr___any *ip = (void *)at;
	__u8 byte = 0;

	if (CAN_CAST)
		return *(const __u8 *)CAST(ip);
	bpf_probe_read_kernel(&byte, sizeof(byte), at);
	return byte;
}

/*
 * BIG TCP over IPv6 has a hop-by-hop header in the buffer that its packets on the wire do not have
 * (ipv6_hopopt_jumbo_remove(), 5.19). Returns its length, or 0.
 */
static __always_inline __u32 jumbo_header(const unsigned char *ip)
{
	__u8 ip6[44] = {};

	bpf_probe_read_kernel(ip6, sizeof(ip6), ip);
	return ip6[0] >> 4 == 6 && !ip6[6] && !ip6[41] && ip6[42] == IPV6_TLV_JUMBO ? 8 : 0;
}

/* Address of an IPv6 header, and how many bytes can be read there. */
struct ipv6_at {
	__u64 ip;
	__u64 room;
};

/*
 * Bytes of IPv6 and its extension headers. Takes a struct because the verifier of 7.3 does not pass
 * an address read by a typed tracepoint to another function as a number.
 * Not static, so that the verifier walks the loop once and not in every state of every caller.
 * Weak, because each BPF file has a copy and one binary may link several (tests/fuzz).
 */
__noinline __weak __u32 ipv6_headers(const struct ipv6_at *at)
{
	__u8 type = 0, next[2] = {};
	__u32 len = 40;

	if (!at)
		return len;
	bpf_probe_read_kernel(&type, sizeof(type), (void *)at->ip + 6);
	for (int i = 0; i < IPV6_HEADERS && ipv6_extends(type); i++) {
		if (len + sizeof(next) > at->room ||
		    bpf_probe_read_kernel(next, sizeof(next), (void *)at->ip + len))
			break;
		len += ipv6_extends_by(type, next[1]);
		type = next[0];
	}
	return len;
}

/* sk_buff.pkt_type: PACKET_* of if_packet.h, part of the ABI. */
#define HOST		0
#define BROADCAST	1
#define MULTICAST	2
#define OTHERHOST	3
#define OUTGOING	4
#define LOOPBACK	5

static __always_inline const struct skb_shared_info *shared_of(const struct sk_buff *skb)
{
	return (void *)skb->head + skb->end;
}

/*
 * A buffer that is or will be segmented. An skb's address is a number here, as in ipv6_headers():
 * programs ask through a function of its own, as few packets need it.
 */
struct segments_asked {
	__u64 skb, shared;		/* and its skb_shared_info */
	__u64 l3;			/* of a received one: its network header */
	__u32 sent;			/* 0: it was received */
	__u32 len, size;		/* of the buffer, the link header included; its gso_size */
	__u32 segs, seg_len, last_len;	/* the answer: as in struct packet */
	__u32 gso_type;
};

/* Is it in a tunnel, of which the stack of its sender, or GRO, has set the inner headers? */
static __always_inline bool skb_in_tunnel(const struct sk_buff *skb)
{
	return CAN_CAST ? BPF_CORE_READ_BITFIELD(CAST(skb), encapsulation) :
			  BPF_CORE_READ_BITFIELD_PROBED(skb, encapsulation);
}

/* Bytes from an address to the payload, where the header offsets are set. */
static __always_inline __u32 headers_from(const struct segments_asked *a, __u64 from,
					  __u32 *jumbo)
{
	const struct sk_buff *skb = (void *)a->skb;
	const unsigned char *head = PLAIN(skb, head);
	__u32 transport = skb_in_tunnel(skb) ? PLAIN(skb, inner_transport_header) :
					       PLAIN(skb, transport_header);
	__u32 len = transport - (__u32)(from - (__u64)head);

	if (PLAIN(skb, len) > 65535)
		*jumbo = jumbo_header(head + PLAIN(skb, network_header));
	if (!(a->gso_type & GSO_TCP))
		return len + UDP_HEADER;
	return len + (byte_at(head + transport + 12) >> 4) * 4;
}

/* The same from the network header of one that was received, and that nobody has parsed. */
static __always_inline __u32 headers_parsed(const struct segments_asked *a, __u32 *jumbo)
{
	const struct sk_buff *skb = (void *)a->skb;
	const unsigned char *data = (void *)a->l3;
	__be16 proto = PLAIN(skb, protocol);
	__u32 len = 0, linear, all = PLAIN(skb, len);
	struct ipv6_at at;
	__u8 first;

	for (int tags = 0; tags < 2; tags++) {
		if (proto != bpf_htons(ETH_P_8021Q) && proto != bpf_htons(ETH_P_8021AD))
			break;
		bpf_probe_read_kernel(&proto, sizeof(proto), data + len + 2);
		len += VLAN_TAG;
	}
	first = byte_at(data + len);
	if (all > 65535)
		*jumbo = jumbo_header(data + len);
	linear = all - PLAIN(skb, data_len) ?: all;
	at = (struct ipv6_at){ .ip = (__u64)data + len, .room = (__u32)(linear - len) };
	len += first >> 4 == 6 ? ipv6_headers(&at) : (first & 15) * 4;
	if (!(a->gso_type & GSO_TCP))
		return len + UDP_HEADER;
	return len + (byte_at(data + len + 12) >> 4) * 4;
}

static __always_inline __u32 headers_before(const struct segments_asked *a, __u32 *jumbo)
{
	const struct sk_buff *skb = (void *)a->skb;

	if (a->sent)
		return headers_from(a, (__u64)PLAIN(skb, data), jumbo);
	return TOLD(l2) + (skb_in_tunnel(skb) ? headers_from(a, a->l3, jumbo) :
						headers_parsed(a, jumbo));
}

/* Splits a buffer into the packets that it becomes on the wire. */
static __always_inline void packet_split(struct packet *p, __u32 headers, __u32 size, __u32 segs)
{
	__u32 payload = p->len - headers;

	if (headers >= p->len)
		return;
	/* Guest TSO and LRO of virtio leave gso_segs 0 (virtio_net_hdr_to_skb). */
	if (!segs)
		segs = (payload + size - 1) / size;
	if (segs < 2 || (__u64)size * (segs - 1) >= payload)
		return;
	p->segs = segs;
	p->seg_len = headers + size;
	p->last_len = headers + payload - size * (segs - 1);
}

/* Not static, weak, and given a struct, as ipv6_headers(). */
__noinline __weak int segments_find(struct segments_asked *a)
{
	const struct skb_shared_info *shared;
	struct packet p = { .segs = 1 };
	__u32 headers, jumbo = 0;	/* bytes of a header that no packet on the wire has */

	if (!a)
		return 0;
	shared = (void *)a->shared;
	a->gso_type = PLAIN(shared, gso_type);
	headers = headers_before(a, &jumbo);
	p.len = a->len;
	packet_split(&p, headers, a->size, PLAIN(shared, gso_segs));
	if (p.segs < 2)
		jumbo = 0;
	a->segs = p.segs;
	a->seg_len = p.seg_len - jumbo;
	a->last_len = p.last_len - jumbo;
	return 0;
}

/* Will it be segmented? */
static __always_inline bool skb_is_gso(const struct sk_buff *skb)
{
	return PLAIN(shared_of(skb), gso_size);
}

/*
 * Sets number and length of the wire packets in buffer p, whose length is p->len. `l3`: the network
 * header of a received one. Returns its gso_type; 0: it will not be segmented.
 */
static __always_inline __u32 skb_segments(const struct sk_buff *skb, struct packet *p,
					  bool sent, const void *l3)
{
	const struct skb_shared_info *shared = shared_of(skb);
	__u32 size = PLAIN(shared, gso_size);
	struct segments_asked asked;

	if (!size)
		return 0;
	asked = (struct segments_asked){
		.skb = (__u64)skb, .shared = (__u64)shared, .l3 = (__u64)l3, .sent = sent,
		.len = p->len, .size = size, .segs = 1,
	};
	segments_find(&asked);
	p->segs = asked.segs;
	p->seg_len = asked.seg_len;
	p->last_len = asked.last_len;
	return asked.gso_type;
}

#endif
