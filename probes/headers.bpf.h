/* SPDX-License-Identifier: GPL-2.0 */
/* From an sk_buff to the members of an event: packet, interface and headers. */
#ifndef NICPROBE_PROBES_HEADERS_BPF_H
#define NICPROBE_PROBES_HEADERS_BPF_H

#include "probes/ask.bpf.h"

#include "bpf/common/vlan.bpf.h"

#define IPPROTO_HOPOPTS	0
#define IPPROTO_ROUTING	43
#define IPPROTO_FRAGMENT 44
#define IPPROTO_ICMPV6	58
#define IPPROTO_DSTOPTS	60

#define IP_HEADER	20
#define IPV6_HEADER	40
#define EXTENSIONS	4	/* headers between IPv6 and the transport that are passed */

/* As they are on the wire. */
struct ipv4_wire {
	__u8 version_ihl, tos;
	__be16 length, ident, fragment;
	__u8 ttl, protocol;
	__be16 checksum;
	__be32 src, dst;
};

struct ipv6_wire {
	__be32 version_class_flow;
	__be16 plen;
	__u8 nexthdr, hlim;
	struct probe_address src, dst;
};

struct tcp_wire {
	__be16 sport, dport;
	__be32 seq, ack;
	__u8 offset, flags;
	__be16 window, checksum, urgent;
};

struct sctp_wire {		/* with the head of its first chunk */
	__be16 sport, dport;
	__be32 verify, checksum;
	__u8 chunk, chunk_flags;
	__be16 chunk_length;
};

struct arp_wire {
	__be16 hardware, protocol;
	__u8 hardware_size, protocol_size;
	__be16 op;
	__u8 sha[6], spa[4], tha[6], tpa[4];
};

static __always_inline void address_v4(struct probe_address *a, __be32 ip)
{
	__u32 *words = (void *)a->bytes;

	words[0] = words[1] = 0;
	words[2] = bpf_htonl(0xffff);
	words[3] = ip;
}

static __always_inline void interface_fill(struct probe_event *e, const struct net_device *dev,
					   __u64 now)
{
	if (!NOW(IF) || !dev)
		return;
	__builtin_memcpy(e->if_name, dev->name, sizeof(e->if_name));
	e->if_index = dev->ifindex;
	e->if_local = !!(dev->flags & IFF_LOOPBACK);
	e->have |= HAVE(IF);
}

static __always_inline void tcp_fill(struct probe_event *e, const void *l4)
{
	struct tcp_wire t;

	if (bpf_probe_read_kernel(&t, sizeof(t), l4))
		return;
	e->sport = bpf_ntohs(t.sport);
	e->dport = bpf_ntohs(t.dport);
	e->tcp_seq = bpf_ntohl(t.seq);
	e->tcp_ack = bpf_ntohl(t.ack);
	e->tcp_window = bpf_ntohs(t.window);
	e->tcp_checksum = bpf_ntohs(t.checksum);
	e->tcp_urgent = bpf_ntohs(t.urgent);
	e->tcp_offset = (t.offset >> 4) * 4;
	e->tcp_flags = t.flags;
	e->have |= HAVE(PORTS) | HAVE(TCPPORTS) | HAVE(TCP);
}

static __always_inline void udp_fill(struct probe_event *e, const void *l4)
{
	__be16 u[4];

	if (bpf_probe_read_kernel(u, sizeof(u), l4))
		return;
	e->sport = bpf_ntohs(u[0]);
	e->dport = bpf_ntohs(u[1]);
	e->udp_length = bpf_ntohs(u[2]);
	e->udp_checksum = bpf_ntohs(u[3]);
	e->have |= HAVE(PORTS) | HAVE(UDP);
}

static __always_inline void icmp_fill(struct probe_event *e, const void *l4)
{
	struct { __u8 type, code; __be16 checksum, id, seq; } i;

	if (bpf_probe_read_kernel(&i, sizeof(i), l4))
		return;
	e->icmp_type = i.type;
	e->icmp_code = i.code;
	e->icmp_checksum = bpf_ntohs(i.checksum);
	e->icmp_echo_id = bpf_ntohs(i.id);
	e->icmp_echo_seq = bpf_ntohs(i.seq);
	e->have |= HAVE(ICMP);
}

static __always_inline void sctp_fill(struct probe_event *e, const void *l4)
{
	struct sctp_wire s;

	if (bpf_probe_read_kernel(&s, sizeof(s), l4))
		return;
	e->sport = bpf_ntohs(s.sport);
	e->dport = bpf_ntohs(s.dport);
	e->sctp_verify = bpf_ntohl(s.verify);
	e->sctp_checksum = bpf_ntohl(s.checksum);
	e->sctp_chunk = s.chunk;
	e->have |= HAVE(PORTS) | HAVE(SCTP);
}

/* `room`: bytes that can be read at l4. */
static __always_inline void transport_fill(struct probe_event *e, const void *l4, __s32 room,
					   __u64 now)
{
	__u8 proto = e->ip_proto;

	if (proto == IPPROTO_TCP && NOW_ANY(HAVE(PORTS) | HAVE(TCPPORTS) | HAVE(TCP)) &&
	    room >= (int)sizeof(struct tcp_wire))
		tcp_fill(e, l4);
	else if (proto == IPPROTO_UDP && NOW_ANY(HAVE(PORTS) | HAVE(UDP)) && room >= 8)
		udp_fill(e, l4);
	else if ((proto == IPPROTO_ICMP || proto == IPPROTO_ICMPV6) && NOW(ICMP) && room >= 8)
		icmp_fill(e, l4);
	else if (proto == IPPROTO_SCTP && NOW_ANY(HAVE(PORTS) | HAVE(SCTP)) &&
		 room >= (int)sizeof(struct sctp_wire))
		sctp_fill(e, l4);
}

/* What the packet holds beyond its IP header, by its real length: GSO leaves ip_len 0 or short. */
static __always_inline void lengths_fill(struct probe_event *e, __u32 behind_ip, __u32 declared,
					 __u32 extensions)
{
	e->ip_plength = declared && declared <= behind_ip ? declared : behind_ip;
	if (e->have & HAVE(TCP))
		e->tcp_plength = e->ip_plength > extensions + e->tcp_offset ?
				 e->ip_plength - extensions - e->tcp_offset : 0;
}

static __always_inline void ipv4_fill(struct probe_event *e, const void *l3, __s32 linear,
				      __u32 len, __u64 now)
{
	struct ipv4_wire ip;
	__u16 fragment;
	__u32 total;

	if (linear < IP_HEADER || bpf_probe_read_kernel(&ip, sizeof(ip), l3))
		return;
	fragment = bpf_ntohs(ip.fragment);
	e->ip_ver = 4;
	e->ipv4_ihl = (ip.version_ihl & 15) * 4;
	e->ipv4_tos = ip.tos;
	e->ip_ecn = ip.tos & 3;
	e->ipv4_length = total = bpf_ntohs(ip.length);
	e->ipv4_ident = bpf_ntohs(ip.ident);
	e->ipv4_flags = (fragment >> 13) << 1;
	e->ipv4_offset = fragment & 0x1fff;
	e->ipv4_ttl = ip.ttl;
	e->ipv4_protocol = e->ip_proto = ip.protocol;
	e->ipv4_checksum = bpf_ntohs(ip.checksum);
	address_v4(&e->ip_saddr, ip.src);
	address_v4(&e->ip_daddr, ip.dst);
	e->have |= HAVE(ADDR) | HAVE(IP) | HAVE(IPV4);
	if (!e->ipv4_offset)
		transport_fill(e, l3 + e->ipv4_ihl, linear - e->ipv4_ihl, now);
	lengths_fill(e, len - e->ipv4_ihl,
		     e->pkt_segs < 2 && total > e->ipv4_ihl ? total - e->ipv4_ihl : 0, 0);
}

/* The transport behind extension headers; 0xff: they are too many, or a later fragment. */
static __always_inline __u8 extensions_pass(const void *l3, __s32 linear, __u32 *at, __u8 type)
{
	for (int i = 0; i < EXTENSIONS; i++) {
		struct { __u8 type, len; __be16 fragment; } next;

		if (type != IPPROTO_HOPOPTS && type != IPPROTO_ROUTING &&
		    type != IPPROTO_FRAGMENT && type != IPPROTO_DSTOPTS)
			return type;
		if (linear < (int)(*at + sizeof(next)) ||
		    bpf_probe_read_kernel(&next, sizeof(next), l3 + *at))
			return 0xff;
		if (type == IPPROTO_FRAGMENT && next.fragment & bpf_htons(0xfff8))
			return 0xff;
		*at += type == IPPROTO_FRAGMENT ? 8 : (next.len + 1) * 8;
		type = next.type;
	}
	return 0xff;
}

static __always_inline void ipv6_fill(struct probe_event *e, const void *l3, __s32 linear,
				      __u32 len, __u64 now)
{
	__u32 at = IPV6_HEADER, word;
	struct ipv6_wire ip;

	if (linear < IPV6_HEADER || bpf_probe_read_kernel(&ip, sizeof(ip), l3))
		return;
	word = bpf_ntohl(ip.version_class_flow);
	e->ip_ver = 6;
	e->ipv6_tclass = word >> 20;
	e->ip_ecn = e->ipv6_tclass & 3;
	e->ipv6_flow = word & 0xfffff;
	e->ipv6_plen = bpf_ntohs(ip.plen);
	e->ipv6_nexthdr = ip.nexthdr;
	e->ipv6_hlim = ip.hlim;
	e->ip_saddr = ip.src;
	e->ip_daddr = ip.dst;
	e->ip_proto = extensions_pass(l3, linear, &at, ip.nexthdr);
	e->have |= HAVE(ADDR) | HAVE(IP) | HAVE(IPV6);
	transport_fill(e, l3 + at, linear - (int)at, now);
	lengths_fill(e, len - IPV6_HEADER, e->pkt_segs < 2 ? e->ipv6_plen : 0, at - IPV6_HEADER);
}

static __always_inline void arp_fill(struct probe_event *e, const void *l3, __s32 linear)
{
	struct arp_wire a;
	__be32 ip;

	if (linear < (int)sizeof(a) || bpf_probe_read_kernel(&a, sizeof(a), l3))
		return;
	if (a.hardware_size != 6 || a.protocol_size != 4)
		return;
	e->arp_op = bpf_ntohs(a.op);
	__builtin_memcpy(e->arp_sha, a.sha, 6);
	__builtin_memcpy(e->arp_tha, a.tha, 6);
	__builtin_memcpy(&ip, a.spa, 4);
	address_v4(&e->arp_spa, ip);
	__builtin_memcpy(&ip, a.tpa, 4);
	address_v4(&e->arp_tpa, ip);
	e->have |= HAVE(ARP);
}

/* Wire packets of a buffer. */
static __always_inline __u32 segments(const struct sk_buff *skb)
{
	const struct skb_shared_info *shared = (void *)skb->head + skb->end;

	if (!PLAIN(shared, gso_size))
		return 1;
	return PLAIN(shared, gso_segs) ?: 2;	/* more than one: the driver left the number out */
}

static __always_inline void ethernet_fill(struct probe_event *e, const struct sk_buff *skb,
					  __u64 now)
{
	struct { __u8 dst[6], src[6]; __be16 type; } eth;
	__u16 mac = skb->mac_header;

	if (!NOW(ETH) || mac == 0xffff ||
	    bpf_probe_read_kernel(&eth, sizeof(eth), skb->head + mac))
		return;
	__builtin_memcpy(e->eth_dst, eth.dst, 6);
	__builtin_memcpy(e->eth_src, eth.src, 6);
	e->eth_type = bpf_ntohs(eth.type);
	e->eth_istagged = skb_has_tag(skb);
	e->eth_vlanid = e->eth_istagged ? skb->vlan_tci & 0xfff : 0;
	e->eth_priority = e->eth_istagged ? skb->vlan_tci >> 13 : 0;
	e->have |= HAVE(ETH);
}

/*
 * A packet whose network header is at `l3`. `linear` bytes of it are there, `len` in all. `l2`: the
 * bytes of its Ethernet header that `skb->len` leaves out.
 */
static __always_inline void packet_fill(struct probe_event *e, const struct sk_buff *skb,
					const void *l3, __s32 linear, __u32 len, __u32 l2,
					__u64 now)
{
	__be16 proto = skb->protocol;

	e->if_proto = bpf_ntohs(proto);
	if (NOW_ANY(HAVE(PKT) | NEEDS_IP)) {
		e->pkt_addr = (__u64)skb;
		e->pkt_len = skb->len + l2;
		e->pkt_segs = segments(skb);
		e->have |= HAVE(PKT);
	}
	ethernet_fill(e, skb, now);
	if (proto == bpf_htons(ETH_P_IP) && NOW_ANY(NEEDS_IP))
		ipv4_fill(e, l3, linear, len, now);
	else if (proto == bpf_htons(ETH_P_IPV6) && NOW_ANY(NEEDS_IP))
		ipv6_fill(e, l3, linear, len, now);
	else if (proto == bpf_htons(ETH_P_ARP) && NOW(ARP))
		arp_fill(e, l3, linear);
}

/* A packet of which the stack has set the network header. */
static __always_inline void stack_packet_at(struct probe_event *e, const struct sk_buff *skb,
					    __u32 l2, __u64 now)
{
	__s32 at = skb->network_header - (__s32)((__u64)skb->data - (__u64)skb->head);

	packet_fill(e, skb, skb->head + skb->network_header, skb->len - skb->data_len - at,
		    skb->len - at, l2, now);
}

/* The same where the Ethernet header is known, too. */
static __always_inline void stack_packet(struct probe_event *e, const struct sk_buff *skb)
{
	__s32 l2 = (__s32)((__u64)skb->data - (__u64)skb->head) - skb->mac_header;

	stack_packet_at(e, skb, skb->mac_header == 0xffff || l2 < 0 ? 0 : l2, query.need);
}

#endif
