/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sees questions to port 53 as they are sent, and answers as they come, of UDP: whoever asks, also
 * those that this host forwards.
 */
#ifndef NICPROBE_DNS_BPF_H
#define NICPROBE_DNS_BPF_H

#include "bpf/common/again.bpf.h"
#include "bpf/dns/dns.h"
#include "bpf/host/socket.bpf.h"

#define ETH_P_IP	0x0800
#define ETH_P_IPV6	0x86dd
#define ETH_P_8021Q	0x8100
#define IPPROTO_UDP	17
#define DNS_PORT	53
#define IP_OFFSET	0x1fff		/* of a fragment */
#define DNS_IS_ANSWER	0x8000		/* of its flags */
#define DNS_TRUNCATED	0x0200
#define DNS_RCODE	0x000f
#define SAME_PACKET_NS	1000000000	/* from the first device of a stack to the last */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct iphdr___dns {
	__be16 frag_off;
	__u8 protocol;
	__be32 saddr, daddr;
};

struct ipv6hdr___dns {
	__u8 nexthdr;
};

struct udphdr___dns {
	__be16 source, dest, len;
};

#pragma clang attribute pop

REMOTE_MAP(dns);
static const struct dns dns_none;

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, DNS_QUESTIONS);
	__type(key, struct dns_question);
	__type(value, struct dns_asked);
} dns_questions SEC(".maps");

/* What is read of a packet, as it is sent. */
struct dns_packet {
	struct dns_question about;
	__u16 flags;
	bool unread;
};

struct dns_udp {
	__be16 source, dest, len, check;
	__be16 id, flags;
};

/*
 * Offset of UDP behind the header of IP at `l3`; 0: it is not, or of a fragment but the first.
 * Most packets end here, or at their ports: so these are loaded without a helper, where that is
 * possible.
 */
static __always_inline __u32 dns_behind(const void *l3, __be16 proto)
{
	const struct iphdr___dns *v4 = l3;
	const struct ipv6hdr___dns *v6 = l3;
	__u8 first;

	if (proto == bpf_htons(ETH_P_IPV6))
		return PLAIN(v6, nexthdr) == IPPROTO_UDP ? 40 : 0;
	if (proto != bpf_htons(ETH_P_IP) || PLAIN(v4, protocol) != IPPROTO_UDP ||
	    PLAIN(v4, frag_off) & bpf_htons(IP_OFFSET) ||
	    bpf_probe_read_kernel(&first, 1, l3))
		return 0;
	return (first & 0xf) * 4;
}

static __always_inline void dns_ends(struct dns_question *q, const void *l3, __be16 proto,
				     bool answer)
{
	struct remote *from = answer ? &q->server : &q->client;
	struct remote *to = answer ? &q->client : &q->server;
	const struct iphdr___dns *v4 = l3;

	if (proto == bpf_htons(ETH_P_IP)) {
		remote_v4(from, PLAIN(v4, saddr));
		remote_v4(to, PLAIN(v4, daddr));
	} else {
		bpf_probe_read_kernel(from, sizeof(*from), l3 + 8);
		bpf_probe_read_kernel(to, sizeof(*to), l3 + 24);
	}
}

/*
 * False: it is no question to port 53, or answer from there. `linear`: bytes that can be read at
 * `l3`.
 */
static __always_inline bool dns_read(struct dns_packet *p, const void *l3, int linear, __be16 proto,
				     bool answer)
{
	__u32 at = dns_behind(l3, proto);
	const struct udphdr___dns *ports = l3 + at;
	struct dns_udp udp;

	if (!at || linear < (int)at + 8 ||
	    (answer ? PLAIN(ports, source) : PLAIN(ports, dest)) != bpf_htons(DNS_PORT) ||
	    bpf_ntohs(PLAIN(ports, len)) < sizeof(udp))
		return false;
	p->unread = linear < (int)(at + sizeof(udp)) ||
		    bpf_probe_read_kernel(&udp, sizeof(udp), ports);
	if (p->unread)
		return true;
	dns_ends(&p->about, l3, proto, answer);
	p->about.port = answer ? udp.dest : udp.source;
	p->about.id = udp.id;
	p->flags = bpf_ntohs(udp.flags);
	return !!(p->flags & DNS_IS_ANSWER) == answer;
}

static __always_inline struct dns *dns_row(const struct remote *server, const char *comm)
{
	struct dns_key key = { .server = *server }, others = {};

	if (comm)
		__builtin_memcpy(key.comm, comm, sizeof(key.comm));
	return REMOTE_ROW(&dns, &key, &others, &dns_none, METER_dns);
}

/* Each device of a stack sees a packet: a bridge and its port, a VLAN and what is below. */
static __always_inline bool dns_same(const struct dns_asked *asked, const struct sk_buff *skb,
				     __u64 now)
{
	return asked->device != (__u64)PLAIN(skb, dev) && now - asked->seen < SAME_PACKET_NS;
}

static __always_inline void dns_seen(struct dns_asked *asked, const struct sk_buff *skb, __u64 now)
{
	asked->seen = now;
	asked->device = (__u64)PLAIN(skb, dev);
}

/* Whose question it is, if the current task sends it: not what is forwarded, or has waited. */
static __always_inline void dns_named(struct dns_asked *asked, const struct sk_buff *skb)
{
	struct counted *here = row_at(&counted, 0);

	if (PLAIN(skb, sk) && here &&
	    !(preempt_count(here) & (SERVING_SOFTIRQ | HARDIRQ_OR_NMI)))
		bpf_get_current_comm(asked->comm, sizeof(asked->comm));
}

static __always_inline void dns_asks(const struct dns_packet *p, const struct sk_buff *skb)
{
	struct dns_asked *asked = bpf_map_lookup_elem(&dns_questions, &p->about), new = {};
	__u64 now = bpf_ktime_get_ns();
	struct dns *row;

	if (asked && !asked->answered) {
		if (dns_same(asked, skb, now))
			return;
		dns_seen(asked, skb, now);
		row = dns_row(&p->about.server, asked->comm);
		if (row)
			COUNT(row, again, 1);
		return;
	}
	new.since = now;
	dns_seen(&new, skb, now);
	dns_named(&new, skb);
	row = dns_row(&p->about.server, new.comm);
	if (!row || bpf_map_update_elem(&dns_questions, &p->about, &new, BPF_ANY))
		return;
	COUNT(row, asked, 1);
}

static __always_inline enum dns_answer dns_code(__u16 flags)
{
	switch (flags & DNS_RCODE) {
	case 0:
		return DNS_OK;
	case 2:
		return DNS_SERVFAIL;
	case 3:
		return DNS_NXDOMAIN;
	case 5:
		return DNS_REFUSED;
	default:
		return DNS_OTHER;
	}
}

static __always_inline void dns_answers(const struct dns_packet *p, const struct sk_buff *skb)
{
	struct dns_asked *asked = bpf_map_lookup_elem(&dns_questions, &p->about);
	__u64 now = bpf_ktime_get_ns();
	struct dns_key others = {};
	struct dns *row;
	__u32 further;

	if (!asked) {	/* anybody may send such: it takes no row of its own */
		row = bpf_map_lookup_elem(&dns, &others);
		if (row)
			COUNT(row, late, 1);
		return;
	}
	further = __sync_lock_test_and_set(&asked->answered, 1);
	if (further && dns_same(asked, skb, now))
		return;
	dns_seen(asked, skb, now);
	row = dns_row(&p->about.server, asked->comm);
	if (!row)
		return;
	if (further) {
		COUNT(row, late, 1);
		return;
	}
	COUNT(row, answers[dns_code(p->flags)], 1);
	if (p->flags & DNS_TRUNCATED)
		COUNT(row, truncated, 1);
	SPAN_ADD(row, latency, now - asked->since);
}

static __always_inline int dns_packet(const struct sk_buff *skb, const void *l3, bool answer)
{
	const void *end = PLAIN(skb, data) + (PLAIN(skb, len) - PLAIN(skb, data_len));
	__be16 proto = PLAIN(skb, protocol);
	struct dns_key others = {};
	struct dns_packet p = {};
	struct dns *row;

	if (proto == bpf_htons(ETH_P_8021Q)) {		/* a card that does not take tags off */
		bpf_probe_read_kernel(&proto, sizeof(proto), l3 + 2);
		l3 += 4;
	}
	if (!dns_read(&p, l3, end - l3, proto, answer))
		return 0;
	if (p.unread) {
		row = bpf_map_lookup_elem(&dns, &others);
		if (row)
			COUNT(row, unread, 1);
	} else if (answer) {
		dns_answers(&p, skb);
	} else {
		dns_asks(&p, skb);
	}
	return 0;
}

SEC("tp_btf/net_dev_queue")
int BPF_PROG(dns_sent, const struct sk_buff *skb)
{
	const struct sk_buff *plain = ARGUMENT(skb);
	const struct net_device *dev = PLAIN(plain, dev);

	if (!net_is_ours(PLAIN(dev, nd_net.net)))
		return 0;
	return dns_packet(plain, PLAIN(plain, head) + PLAIN(plain, network_header), false);
}

/* Its network header is where its data begins (__netif_receive_skb_core(), 6.1 to 6.18). */
SEC("tp_btf/netif_receive_skb")
int BPF_PROG(dns_received, const struct sk_buff *skb)
{
	const struct sk_buff *plain = ARGUMENT(skb);
	const struct net_device *dev = PLAIN(plain, dev);

	if (!net_is_ours(PLAIN(dev, nd_net.net)))
		return 0;
	return dns_packet(plain, PLAIN(plain, data), true);
}

#endif
