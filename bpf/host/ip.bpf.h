/* SPDX-License-Identifier: GPL-2.0 */
/* Packets of IP as the host sends and receives them, for its meters that look at each. */
#ifndef NICPROBE_IP_BPF_H
#define NICPROBE_IP_BPF_H

#include "bpf/host/socket.bpf.h"

#define ETH_P_IP	0x0800
#define ETH_P_IPV6	0x86dd
#define ETH_P_8021Q	0x8100
#define IPPROTO_FRAGMENT 44
#define IP_OFFSET	0x1fff		/* of a fragment */
#define IPV6_OFFSET	0xfff8
#define PACKET_HOST	0		/* its address is that of the device: linux/if_packet.h */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct iphdr___host {
	__be16 frag_off;
	__u8 protocol;
	__be32 saddr, daddr;
};

struct ipv6hdr___host {
	__u8 nexthdr;
};

#pragma clang attribute pop

/* A header of IP, and what is behind it. */
struct ip_header {
	const void *at;
	__be16 proto;		/* ETH_P_… */
	__u8 protocol;		/* IPPROTO_… of what is behind; 0: not IP, or a later fragment */
	__u8 behind;		/* offset of that */
};

struct ip_packet {
	const struct sk_buff *skb;	/* to read */
	struct ip_header ip;
	const void *l4;
	__s64 linear;		/* bytes that can be read there */
	bool received;		/* else: sent */
};

/* The first fragment has the header of what is behind. */
static __always_inline void ip_fragment(struct ip_header *h)
{
	struct { __u8 next, unused; __be16 offset; __be32 id; } fragment;

	if (bpf_probe_read_kernel(&fragment, sizeof(fragment), h->at + 40))
		return;
	h->protocol = fragment.offset & bpf_htons(IPV6_OFFSET) ? 0 : fragment.next;
	h->behind += sizeof(fragment);
}

/*
 * Most packets end at their protocol: it is loaded without a helper, where that is possible. Of
 * IPv6's extension headers only that of fragments is known.
 */
static __always_inline void ip_protocol(struct ip_header *h, const void *at, __be16 proto)
{
	const struct iphdr___host *v4 = at;
	const struct ipv6hdr___host *v6 = at;

	h->at = at;
	h->proto = proto;
	h->protocol = h->behind = 0;
	if (proto == bpf_htons(ETH_P_IPV6)) {
		h->protocol = PLAIN(v6, nexthdr);
		h->behind = 40;
		if (h->protocol == IPPROTO_FRAGMENT)
			ip_fragment(h);
	} else if (proto == bpf_htons(ETH_P_IP) && !(PLAIN(v4, frag_off) & bpf_htons(IP_OFFSET))) {
		h->protocol = PLAIN(v4, protocol);
	}
}

/* What is behind it. NULL: it cannot be read. */
static __always_inline const void *ip_behind(const struct ip_header *h)
{
	__u8 first;

	if (h->behind)
		return h->at + h->behind;
	return bpf_probe_read_kernel(&first, 1, h->at) ? NULL : h->at + (first & 0xf) * 4;
}

static __always_inline void ip_ends(const struct ip_header *h, struct remote *from,
				    struct remote *to)
{
	const struct iphdr___host *v4 = h->at;

	if (h->proto == bpf_htons(ETH_P_IP)) {
		remote_v4(from, PLAIN(v4, saddr));
		remote_v4(to, PLAIN(v4, daddr));
	} else {
		bpf_probe_read_kernel(from, sizeof(*from), h->at + 8);
		bpf_probe_read_kernel(to, sizeof(*to), h->at + 24);
	}
}

/* `l3`: where its network header is. */
static __always_inline void packet_begin(struct ip_packet *p, const struct sk_buff *skb,
					 const void *l3, bool received)
{
	__be16 proto = PLAIN(skb, protocol);

	if (proto == bpf_htons(ETH_P_8021Q)) {		/* a card that does not take tags off */
		bpf_probe_read_kernel(&proto, sizeof(proto), l3 + 2);
		l3 += 4;
	}
	p->skb = skb;
	p->received = received;
	ip_protocol(&p->ip, l3, proto);
}

/* Finds what is behind IP. False: it is nowhere. */
static __always_inline bool packet_behind(struct ip_packet *p)
{
	const struct sk_buff *skb = p->skb;
	__u64 end = (__u64)PLAIN(skb, data) + (PLAIN(skb, len) - PLAIN(skb, data_len));

	p->l4 = ip_behind(&p->ip);
	p->linear = end - (__u64)p->l4;
	return p->l4;
}

/*
 * Does a socket of this host send it? A bridge passes packets on that still belong to a socket of
 * another namespace: only ip_rcv() takes it from them (6.1 to 6.18).
 */
static __always_inline bool packet_is_own(const struct sk_buff *skb)
{
	const struct sock *sk = PLAIN(skb, sk);

	return sk && net_is_ours(PLAIN(sk, __sk_common.skc_net.net));
}

#endif
