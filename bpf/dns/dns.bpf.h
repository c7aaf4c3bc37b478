/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sees questions to port 53 as they are sent, and answers as they come, of UDP: whoever asks, also
 * those that this host forwards.
 */
#ifndef NICPROBE_DNS_BPF_H
#define NICPROBE_DNS_BPF_H

#include "bpf/dns/dns.h"
#include "bpf/host/roundtrip.bpf.h"

#define IPPROTO_UDP	17
#define DNS_PORT	53
#define DNS_IS_ANSWER	0x8000		/* of its flags */
#define DNS_OPCODE	0x7800		/* 0: a query; else NOTIFY, UPDATE and others */
#define DNS_TRUNCATED	0x0200
#define DNS_RCODE	0x000f

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct udphdr___dns {
	__be16 source, dest, len;
};

#pragma clang attribute pop

ASKER_MAP(dns);
static const struct dns dns_none;

ROUNDTRIP_MAP(dns_questions);

/* What is read of a packet. */
struct dns_packet {
	struct roundtrip about;
	__u16 size;		/* with the header of UDP */
	__u16 flags;
	bool unread;
};

struct dns_udp {
	__be16 source, dest, len, check;
	__be16 id, flags;
};

/* False: it is no question to port 53, or answer from there. Most end at their ports. */
static __always_inline bool dns_read(struct dns_packet *q, const struct ip_packet *p)
{
	const struct udphdr___dns *ports = p->l4;
	struct remote *server = &q->about.server, *client = &q->about.client;
	bool answer = p->received;
	struct dns_udp udp;

	if (p->linear < 8 ||
	    (answer ? PLAIN(ports, source) : PLAIN(ports, dest)) != bpf_htons(DNS_PORT))
		return false;
	q->size = bpf_ntohs(PLAIN(ports, len));
	if (q->size < sizeof(udp))
		return false;
	q->unread = p->linear < (__s64)sizeof(udp) ||
		    bpf_probe_read_kernel(&udp, sizeof(udp), ports);
	if (q->unread)
		return true;
	ip_ends(&p->ip, answer ? server : client, answer ? client : server);
	q->about.port = answer ? udp.dest : udp.source;
	q->about.id = udp.id;
	q->flags = bpf_ntohs(udp.flags);
	return !(q->flags & DNS_OPCODE) && !!(q->flags & DNS_IS_ANSWER) == answer;
}

static __always_inline void dns_asks(const struct dns_packet *q, const struct sk_buff *skb)
{
	struct roundtrip_state as = {};
	enum asked_is is = roundtrip_asked(&dns_questions, &q->about, skb, true, &as);
	struct dns *row;

	if (is == ASKED_SEEN)
		return;
	row = ASKER_ROW(dns, &q->about.server, as.comm);
	if (!row)
		return;
	if (is == ASKED_NEW)
		COUNT(row, asked, 1);
	else
		COUNT(row, again, 1);
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

static __always_inline void dns_answers(const struct dns_packet *q, const struct sk_buff *skb)
{
	struct roundtrip_state *asked = bpf_map_lookup_elem(&dns_questions, &q->about);
	__u64 now = bpf_ktime_get_ns();
	enum answer_is is = asked ? roundtrip_answered(asked, skb, now) : ANSWER_FURTHER;
	struct dns *row;

	if (is == ANSWER_SEEN)
		return;
	row = asked ? ASKER_ROW(dns, &q->about.server, asked->comm) : ASKER_OTHERS(dns);
	if (!row)
		return;
	if (!asked || is == ANSWER_FURTHER) {
		COUNT(row, late, 1);
		return;
	}
	COUNT(row, answers[dns_code(q->flags)], 1);
	if (q->flags & DNS_TRUNCATED)
		COUNT(row, truncated, 1);
	SPAN_ADD(row, latency, now - asked->since);
}

static __always_inline void dns_packet(const struct ip_packet *p, const struct dns_packet *q)
{
	struct dns *row;

	if (q->unread) {
		row = ASKER_OTHERS(dns);
		if (row)
			COUNT(row, unread, 1);
	} else if (p->received) {
		dns_answers(q, p->skb);
	} else {
		dns_asks(q, p->skb);
	}
}

#endif
