/* SPDX-License-Identifier: GPL-2.0 */
/* Which probes have a packet in hand, and with which header it begins. */
#include <errno.h>
#include <string.h>

#include "lib/util/log.h"
#include "probes/asking.h"

/* The header that the packet has at every source of the probe. */
enum begins { BEGINS_NOWHERE, BEGINS_IP, BEGINS_ETHERNET };

static enum begins begins(enum stable_probe p)
{
	const char *provider = stable_probes[p].provider;

	if (!(probe_groups(p) >> GROUP_PKT & 1))
		return BEGINS_NOWHERE;
	return !strcmp(provider, "nic") || !strcmp(provider, "arp") ? BEGINS_ETHERNET : BEGINS_IP;
}

static const char *why_none(enum stable_probe p)
{
	const char *provider = stable_probes[p].provider;

	if (p == PROBE_tcp_accept_refused)
		return "the RST is made after it";
	if (!strcmp(provider, "nic"))
		return "it tells of a poll, or of a frame that has no buffer of the kernel yet";
	if (!strcmp(provider, "tcp") || !strcmp(provider, "udp"))
		return "it tells of a socket";
	return "it tells of a call";
}

/* All packets of a file begin with the same header, or tcpdump does not read it. */
int packets_ask(struct asking *a, unsigned snaplen)
{
	struct question *q = a->q;
	int at[BEGINS_ETHERNET + 1] = { -1, -1, -1 };

	if (q->query.aggregation != AGG_PRINT)
		return error_set(a->e, -EINVAL, "--where", "--pcap takes events one by one: "
				 "nothing can be aggregated");
	for (int p = 0; p < NR_STABLE_PROBES; p++) {
		enum begins header = begins(p);

		if (!(q->probes >> p & 1))
			continue;
		if (header == BEGINS_NOWHERE)
			return error_set(a->e, -EOPNOTSUPP, NULL, "--pcap: %s has no packet: %s",
					 probe_name(p), why_none(p));
		if (at[header] < 0 || !strcmp(stable_probes[p].provider, "arp"))
			at[header] = p;
	}
	q->query.snaplen = snaplen;
	q->query.ethernet = at[BEGINS_IP] < 0;
	if (!q->query.ethernet && at[BEGINS_ETHERNET] >= 0 &&
	    !strcmp(stable_probes[at[BEGINS_ETHERNET]].provider, "arp"))
		return error_set(a->e, -EOPNOTSUPP, NULL, "--pcap: packets of %s begin with the "
				 "IP header, which those of %s have not: a file for each",
				 probe_name(at[BEGINS_IP]), probe_name(at[BEGINS_ETHERNET]));
	q->required |= 1ull << GROUP_PKT;
	q->query.need |= 1ull << GROUP_PKT | 1ull << GROUP_IF;
	if (q->query.ethernet)
		q->query.need |= 1ull << GROUP_ETH;
	return 0;
}
