/* SPDX-License-Identifier: GPL-2.0 */
/* A look at a packet before an event is made of it: most filters let few packets pass. */
#ifndef NICPROBE_PROBES_PEEK_BPF_H
#define NICPROBE_PROBES_PEEK_BPF_H

#include "probes/headers.bpf.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct iphdr___peek {
	__u8 ihl : 4;
	__be16 frag_off;
	__u8 protocol;
	__be32 saddr, daddr;
};

struct in6_addr___peek {
	union {
		__be32 u6_addr32[4];
	} in6_u;
};

struct ipv6hdr___peek {
	__u8 nexthdr;
	struct in6_addr___peek saddr, daddr;
};

struct udphdr___peek {		/* the ports of TCP are where those of UDP are */
	__be16 source, dest;
};

#pragma clang attribute pop

#define PORTS_BYTES	4
/* An address as the halves of a struct probe_address; IPv4 fills the second. */
#define MAPPED(ip)	((__u64)(ip) << 32 | bpf_htonl(0xffff))
#define HALF(ip6, i)	((ip6)->in6_u.u6_addr32[i] | (__u64)(ip6)->in6_u.u6_addr32[i + 1] << 32)

/* What a packet shows of what the comparison asks: ports are only there for TCP and UDP. */
static __always_inline bool peek_holds(__u8 proto, const void *l4)
{
	const struct udphdr___peek *ports = CAST((struct udphdr___peek *)l4);
	bool has_ports = proto == IPPROTO_TCP || proto == IPPROTO_UDP;

	switch (query.peek) {
	case PEEK_PROTOCOL:
		return value_holds(&query.peeked, proto);
	case PEEK_SPORT:
		return !has_ports || value_holds(&query.peeked, bpf_ntohs(ports->source));
	case PEEK_DPORT:
		return !has_ports || value_holds(&query.peeked, bpf_ntohs(ports->dest));
	default:
		return true;
	}
}

static __always_inline bool peek_v4(const void *l3, __s32 linear, __u8 only)
{
	const struct iphdr___peek *ip = CAST((struct iphdr___peek *)l3);

	if (linear < IP_HEADER + PORTS_BYTES || ip->frag_off & bpf_htons(0x1fff) ||
	    BPF_CORE_READ_BITFIELD(ip, ihl) * 4 != IP_HEADER)
		return true;
	if (only && ip->protocol != only)
		return false;
	if (query.peek == PEEK_SADDR)
		return halves_hold(&query.peeked, 0, MAPPED(ip->saddr));
	if (query.peek == PEEK_DADDR)
		return halves_hold(&query.peeked, 0, MAPPED(ip->daddr));
	return peek_holds(ip->protocol, l3 + IP_HEADER);
}

static __always_inline bool peek_v6(const void *l3, __s32 linear, __u8 only)
{
	const struct ipv6hdr___peek *ip = CAST((struct ipv6hdr___peek *)l3);
	__u8 next = ip->nexthdr;

	if (linear < IPV6_HEADER + PORTS_BYTES)
		return true;
	if (query.peek == PEEK_SADDR)
		return halves_hold(&query.peeked, HALF(&ip->saddr, 0), HALF(&ip->saddr, 2));
	if (query.peek == PEEK_DADDR)
		return halves_hold(&query.peeked, HALF(&ip->daddr, 0), HALF(&ip->daddr, 2));
	/* behind extension headers it takes longer */
	if (next != IPPROTO_TCP && next != IPPROTO_UDP && next != IPPROTO_ICMPV6)
		return true;
	return (!only || next == only) && peek_holds(next, l3 + IPV6_HEADER);
}

/*
 * May the event pass the filter? False: certainly not. `only`: the transport that all probes ask
 * for; 0: several. `l3`: the network header, of which `linear` bytes are there.
 */
static __always_inline bool peek(const struct sk_buff *skb, const struct net_device *dev,
				 const void *l3, __s32 linear, __u8 only)
{
	if (query.peek == PEEK_INTERFACE && dev && !value_holds(&query.peeked, dev->ifindex))
		return false;
	if (!CAN_CAST || (query.peek <= PEEK_INTERFACE && !only))
		return true;
	if (skb->protocol == bpf_htons(ETH_P_IP))
		return peek_v4(l3, linear, only);
	if (skb->protocol == bpf_htons(ETH_P_IPV6))
		return peek_v6(l3, linear, only);
	return true;
}

/* Where the stack has set the network header. */
static __always_inline bool peek_stack(const struct sk_buff *skb, const struct net_device *dev,
				       __u8 only)
{
	__s32 at = skb->network_header - (__s32)((__u64)skb->data - (__u64)skb->head);

	return peek(skb, dev, skb->head + skb->network_header, skb->len - skb->data_len - at, only);
}

/* Where a packet arrives: its data begins with the network header. */
static __always_inline bool peek_arrived(const struct sk_buff *skb, const struct net_device *dev,
					 __u8 only)
{
	return peek(skb, dev, skb->data, skb->len - skb->data_len, only);
}

/* The transport that a source is asked for; 0: several, or packets of any. */
#define ONLY(source)								\
	(!SERVES(source, ~(BIT(tcp_send) | BIT(tcp_receive) | BIT(tcp_connect_request))) ? \
		 IPPROTO_TCP :							\
	 !SERVES(source, ~(BIT(udp_send) | BIT(udp_receive))) ? IPPROTO_UDP : 0)

#endif
