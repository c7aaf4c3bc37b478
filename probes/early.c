/* SPDX-License-Identifier: GPL-2.0 */
/* Chooses what programs ask of a packet first: a filter that lets few pass then costs little. */
#include <stddef.h>

#include "lib/util/list.h"
#include "probes/early.h"

#define H(group)	(1ull << GROUP_##group)
#define HEADERS		(H(ADDR) | H(IP) | H(IPV4) | H(IPV6) | H(PORTS) | H(TCPPORTS) | H(TCP) | \
			 H(UDP) | H(ICMP) | H(SCTP))
#define FILLED_FIRST	(HEADERS | H(PKT) | H(IF) | H(QUEUE) | H(ETH) | H(ARP) | H(PROC) | \
			 H(CS) | H(CID) | H(ENDS) | H(TCPENDS) | H(UDPENDS) | H(STATE) | H(TCPS))

/*
 * What programs fill before they ask the filter; 0: everything. Headers are read at once; what a
 * program alone knows it fills at its own time.
 */
static __u64 groups_first(const struct query *q)
{
	__u64 first = q->filter_need;

	if (!q->nr_terms || first & ~FILLED_FIRST)
		return 0;
	return first & HEADERS ? first | (q->need & HEADERS) : first;
}

static enum peek peek_of(const struct term *t)
{
	static const struct {
		size_t offset;
		enum peek peek;
	} known[] = {
		{ offsetof(struct probe_event, if_index), PEEK_INTERFACE },
		{ offsetof(struct probe_event, ip_proto), PEEK_PROTOCOL },
		{ offsetof(struct probe_event, sport), PEEK_SPORT },
		{ offsetof(struct probe_event, dport), PEEK_DPORT },
		{ offsetof(struct probe_event, ip_saddr), PEEK_SADDR },
		{ offsetof(struct probe_event, ip_daddr), PEEK_DADDR },
	};

	for (unsigned i = 0; i < NR_OF(known); i++)
		if (known[i].offset == t->offset)
			return known[i].peek;
	return PEEK_NONE;
}

/* The first comparison that needs no event, if all must hold: without ||. */
static void peek_choose(struct query *q)
{
	for (unsigned i = 0; i + 1 < q->nr_terms; i++)
		if (q->term[i].ends)
			return;
	for (unsigned i = 0; i < q->nr_terms && !q->peek; i++) {
		q->peek = peek_of(&q->term[i]);
		q->peeked = q->term[i];
	}
}

void early_choose(const struct question *asked, struct query *q)
{
	/* probes of --since pass the filter by, and what asks for a time comes after it is known */
	if (asked->since || q->filter_need & H(SINCE))
		return;
	q->early = groups_first(q);
	peek_choose(q);
}
