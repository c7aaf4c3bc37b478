/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sees messages of ICMP as they are sent and as they come: of this host, and those that it passes
 * on. What the kernel counts is the subject of tests/live/icmp_test.py.
 */
#ifndef NICPROBE_ICMP_BPF_H
#define NICPROBE_ICMP_BPF_H

#include "bpf/host/roundtrip.bpf.h"
#include "bpf/icmp/icmp.h"

#define IPPROTO_ICMP	1
#define IPPROTO_ICMPV6	58
#define NOT_ICMP_ERROR	NR_ICMP_ERRORS

enum icmp_type {		/* linux/icmp.h */
	V4_ECHO_REPLY = 0, V4_UNREACHABLE = 3, V4_REDIRECT = 5, V4_ECHO = 8,
	V4_TIME_EXCEEDED = 11, V4_PARAMETER = 12,
};

enum icmp6_type {		/* linux/icmpv6.h, net/ndisc.h */
	V6_UNREACHABLE = 1, V6_TOO_BIG = 2, V6_TIME_EXCEEDED = 3, V6_PARAMETER = 4,
	V6_ECHO = 128, V6_ECHO_REPLY = 129, V6_REDIRECT = 137,
};

ASKER_MAP(icmp);
static const struct icmp icmp_none;

ROUNDTRIP_MAP(icmp_echoes);	/* requests that were sent */
ROUNDTRIP_MAP(icmp_came);	/* requests that came */

struct icmp_header {
	__u8 type, code;
	__be16 check;
	union {
		struct { __be16 id, sequence; };
		struct { __be16 unused, mtu; } v4;
		__be32 mtu6;
	};
};

/* An error as the devices of a stack see it. */
struct icmp_message {
	struct remote from, to;
	struct icmp_header header;	/* its checksum tells it from others */
	__u32 received;
};
MAP(LRU_HASH, icmp_seen, struct icmp_message, struct sighting, ROUNDTRIPS);

/* A destination of TCP to which packets were too big. */
struct icmp_path {
	__u64 since, last;		/* CLOCK_MONOTONIC ns: of the first error, of the last */
	__u32 mtu;			/* that they told */
};
MAP(LRU_HASH, icmp_paths, struct remote, struct icmp_path, ROUNDTRIPS);

#define PATH_HEEDED_NS	1000000000ull	/* what is on its way when the first error comes is done */
/* Longer than TCP waits between two attempts, shorter than the kernel remembers the MTU. */
#define PATH_AFRESH_NS	60000000000ull

static __always_inline bool icmp_is_echo(bool v6, __u8 type)
{
	return type == (v6 ? V6_ECHO : V4_ECHO);
}

static __always_inline bool icmp_is_reply(bool v6, __u8 type)
{
	return type == (v6 ? V6_ECHO_REPLY : V4_ECHO_REPLY);
}

static __always_inline enum icmp_error icmp_v4_unreachable(__u8 code)
{
	switch (code) {
	case 0: case 6: case 11:		/* unknown, or not for this type of service */
		return ICMP_NET_UNREACHABLE;
	case 1: case 7: case 12:
		return ICMP_HOST_UNREACHABLE;
	case 2:
		return ICMP_PROTOCOL_UNREACHABLE;
	case 3:
		return ICMP_PORT_UNREACHABLE;
	case 4:
		return ICMP_TOO_BIG;
	case 9: case 10: case 13:
		return ICMP_PROHIBITED;
	default:
		return ICMP_UNREACHABLE;
	}
}

static __always_inline enum icmp_error icmp_v4_error(const struct icmp_header *h)
{
	switch (h->type) {
	case V4_UNREACHABLE:
		return icmp_v4_unreachable(h->code);
	case V4_REDIRECT:
		return ICMP_REDIRECT;
	case V4_TIME_EXCEEDED:
		return h->code ? ICMP_REASSEMBLY : ICMP_TTL_EXCEEDED;
	case V4_PARAMETER:
		return ICMP_PARAMETER;
	default:
		return NOT_ICMP_ERROR;
	}
}

static __always_inline enum icmp_error icmp_v6_unreachable(__u8 code)
{
	switch (code) {
	case 0:
		return ICMP_NET_UNREACHABLE;
	case 1: case 5: case 6:			/* by policy of the source, or of the route */
		return ICMP_PROHIBITED;
	case 3:
		return ICMP_HOST_UNREACHABLE;
	case 4:
		return ICMP_PORT_UNREACHABLE;
	default:
		return ICMP_UNREACHABLE;
	}
}

static __always_inline enum icmp_error icmp_v6_error(const struct icmp_header *h)
{
	switch (h->type) {
	case V6_UNREACHABLE:
		return icmp_v6_unreachable(h->code);
	case V6_TOO_BIG:
		return ICMP_TOO_BIG;
	case V6_TIME_EXCEEDED:
		return h->code ? ICMP_REASSEMBLY : ICMP_TTL_EXCEEDED;
	case V6_PARAMETER:
		return ICMP_PARAMETER;
	case V6_REDIRECT:
		return ICMP_REDIRECT;
	default:
		return NOT_ICMP_ERROR;
	}
}

static __always_inline void icmp_roundtrip(struct roundtrip *q, const struct ip_header *ip,
					  const struct icmp_header *h, bool reply)
{
	ip_ends(ip, reply ? &q->server : &q->client, reply ? &q->client : &q->server);
	q->port = h->id;
	q->id = h->sequence;
}

static __always_inline void icmp_asks(const struct ip_packet *p, const struct roundtrip *q)
{
	struct roundtrip_state as = {};
	enum asked_is is = roundtrip_asked(&icmp_echoes, q, p->skb, true, &as);
	struct icmp *row;

	if (is == ASKED_SEEN)
		return;
	row = ASKER_ROW(icmp, &q->server, as.comm);
	if (!row)
		return;
	if (is == ASKED_NEW)
		COUNT(row, asked, 1);
	else
		COUNT(row, again, 1);
}

/* `to_us`: its link-layer address is that of the device. */
static __always_inline void icmp_answers(const struct ip_packet *p, const struct roundtrip *q,
					 bool to_us)
{
	struct roundtrip_state *asked = bpf_map_lookup_elem(&icmp_echoes, q);
	__u64 now = bpf_ktime_get_ns();
	enum answer_is is;
	struct icmp *row;

	if (!asked) {
		row = to_us ? ASKER_OTHERS(icmp) : NULL;
		if (row)
			COUNT(row, stray, 1);
		return;
	}
	is = roundtrip_answered(asked, p->skb, now);
	row = is == ANSWER_SEEN ? NULL : ASKER_ROW(icmp, &q->server, asked->comm);
	if (!row)
		return;
	if (is == ANSWER_FURTHER) {
		COUNT(row, duplicates, 1);
		return;
	}
	COUNT(row, answered, 1);
	SPAN_ADD(row, latency, now - asked->since);
}

/* Of ours: a reply that is passed on belongs to no socket of this host. */
static __always_inline void icmp_replies(const struct ip_packet *p, const struct roundtrip *q)
{
	struct roundtrip_state *came = bpf_map_lookup_elem(&icmp_came, q);
	enum answer_is is = ANSWER_FURTHER;
	__u64 now = bpf_ktime_get_ns();
	struct icmp *row;

	if (came)
		is = roundtrip_answered(came, p->skb, now);
	row = is == ANSWER_SEEN ? NULL : ASKER_ROW(icmp, &q->client, NULL);
	if (!row)
		return;
	COUNT(row, replied, 1);
	if (came && is == ANSWER_FIRST)
		SPAN_ADD(row, replying, now - came->since);
}

static __always_inline void icmp_echo(const struct ip_packet *p, const struct icmp_header *h,
				      bool reply, bool to_us)
{
	struct roundtrip q = {};
	struct roundtrip_state as = {};

	icmp_roundtrip(&q, &p->ip, h, reply);
	if (p->received && reply)
		icmp_answers(p, &q, to_us);
	else if (p->received && to_us)
		roundtrip_asked(&icmp_came, &q, p->skb, false, &as);
	else if (!p->received && !reply)
		icmp_asks(p, &q);
	else if (!p->received && packet_is_own(p->skb))
		icmp_replies(p, &q);
}

/* The packet that an error is about: was it an echo request of ours that waits for its reply? */
static __always_inline void icmp_ends(const struct ip_packet *p, bool v6)
{
	struct icmp_header h;
	struct roundtrip q = {};
	struct ip_header about;
	struct roundtrip_state *asked;
	struct icmp *row;
	const void *at;

	ip_protocol(&about, p->l4 + sizeof(h), p->ip.proto);
	at = about.protocol == (v6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP) ? ip_behind(&about) : NULL;
	if (!at || p->linear < (__s64)((__u64)at - (__u64)p->l4 + sizeof(h)) ||
	    bpf_probe_read_kernel(&h, sizeof(h), at) || !icmp_is_echo(v6, h.type))
		return;
	icmp_roundtrip(&q, &about, &h, false);
	asked = bpf_map_lookup_elem(&icmp_echoes, &q);
	if (!asked || __sync_lock_test_and_set(&asked->answered, 1))
		return;
	row = ASKER_ROW(icmp, &q.server, asked->comm);
	if (row)
		COUNT(row, failed, 1);
}

/*
 * An error that says that a packet is too big. Of TCP there are no more to a destination once it is
 * known: segments are made smaller, of all its sockets (ip_rt_update_pmtu() marks the routes that
 * they hold, 6.1 to 6.18). Others may try larger packets on purpose.
 */
static __always_inline void icmp_too_big(const struct ip_packet *p, const struct icmp_header *h,
					 bool v6, struct icmp *row)
{
	__u32 mtu = v6 ? bpf_ntohl(h->mtu6) : bpf_ntohs(h->v4.mtu);
	struct remote from, to;
	struct icmp_path *known, new = { .mtu = mtu };
	struct ip_header about;
	__u64 now = bpf_ktime_get_ns();

	row->mtu[0] = mtu;
	if (p->linear < (__s64)sizeof(*h) + (v6 ? 40 : 20))
		return;
	ip_protocol(&about, p->l4 + sizeof(*h), p->ip.proto);
	if (about.protocol != IPPROTO_TCP)
		return;
	ip_ends(&about, &from, &to);
	known = bpf_map_lookup_elem(&icmp_paths, &to);
	if (known && mtu >= known->mtu && now - known->last < PATH_AFRESH_NS) {
		known->last = now;
		if (now - known->since > PATH_HEEDED_NS)
			COUNT(row, unheeded, 1);
		return;
	}
	new.since = new.last = now;
	bpf_map_update_elem(&icmp_paths, &to, &new, BPF_ANY);
}

static __always_inline bool icmp_first(const struct ip_packet *p, const struct icmp_message *m)
{
	struct sighting *known = bpf_map_lookup_elem(&icmp_seen, m), new = {};
	__u64 now = bpf_ktime_get_ns();

	if (known)
		return !sighted(known, p->skb, now);
	sighted(&new, p->skb, now);
	bpf_map_update_elem(&icmp_seen, m, &new, BPF_ANY);
	return true;
}

static __always_inline void icmp_told(const struct ip_packet *p, const struct icmp_header *h,
				      enum icmp_error error, bool v6)
{
	struct icmp_message m = { .header = *h, .received = p->received };
	bool ours = !p->received && packet_is_own(p->skb);
	struct icmp *row;

	ip_ends(&p->ip, &m.from, &m.to);
	if (!icmp_first(p, &m))
		return;
	row = ASKER_ROW(icmp, ours ? &m.to : &m.from, NULL);
	if (!row || error >= NR_ICMP_ERRORS)
		return;
	if (ours) {
		COUNT(row, sent[error], 1);
		return;
	}
	if (!p->received) {
		COUNT(row, forwarded[error], 1);
		return;
	}
	COUNT(row, received[error], 1);
	if (error == ICMP_TOO_BIG)
		icmp_too_big(p, h, v6, row);
	if (error != ICMP_REDIRECT)
		icmp_ends(p, v6);
}

static __always_inline void icmp_packet(const struct ip_packet *p)
{
	bool v6 = p->ip.protocol == IPPROTO_ICMPV6, reply, to_us;
	const struct sk_buff *skb = p->skb;
	enum icmp_error error;
	struct icmp_header h;
	struct icmp *row;

	if (v6 != (p->ip.proto == bpf_htons(ETH_P_IPV6)))
		return;
	if (p->linear < (__s64)sizeof(h) || bpf_probe_read_kernel(&h, sizeof(h), p->l4)) {
		row = ASKER_OTHERS(icmp);
		if (row)
			COUNT(row, unread, 1);
		return;
	}
	/* else a bridge passes it on, or the device takes whatever it hears */
	to_us = BPF_CORE_READ_BITFIELD(skb, pkt_type) == PACKET_HOST;
	reply = icmp_is_reply(v6, h.type);
	if (reply || icmp_is_echo(v6, h.type)) {
		icmp_echo(p, &h, reply, to_us);
		return;
	}
	error = v6 ? icmp_v6_error(&h) : icmp_v4_error(&h);
	if (error != NOT_ICMP_ERROR && to_us)
		icmp_told(p, &h, error, v6);
}

#endif
