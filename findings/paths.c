/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about paths through the network, as the errors of ICMP tell of them. */
#include <inttypes.h>
#include <stdio.h>

#include "bpf/icmp/icmp.h"
#include "findings/subjects.h"
#include "lib/util/log.h"

enum { UNHEEDED };

static const struct limit three = { 3, "3 errors" };

static const struct finding_kind kinds[] = {
	[UNHEEDED] = {
		.id = "icmp-mtu-unheeded", RATED(CRITICAL, LOSS),
		RESTS(ALWAYS, ON(icmp), 0),
		.title = "TCP goes on sending packets that are too big for a path",
		.means = "A router says that packets do not fit, and of which size they would. "
			 "That comes to this host, yet TCP does not make its segments smaller, "
			 "more than a second later: a filter drops the error, or the kernel does, "
			 "as the router's address is not one that it expects there (rp_filter). "
			 "Small segments pass, large ones never do: connections open, and hang.",
		.when = "at least {1} of a router, of which this host forwards none, are about "
			"segments of TCP to a host for which the same was said more than a second "
			"and less than a minute before",
		.remedy = "Let the error in: ICMP type 3 code 4, and type 2 of ICMPv6, in the "
			  "filters of this host; net.ipv4.conf.all.rp_filter and that of the "
			  "interface 2 or 0. Or: a smaller MTU on the route (ip route change … "
			  "mtu), or net.ipv4.tcp_mtu_probing=1.",
		.symptom = "Connections open, then hang as soon as much is sent",
		.limits = { &three },
	},
};

static const char *router_text(const struct asker_key *key)
{
	char router[64];

	remote_text(&key->remote, router, sizeof(router));
	return text("%s", router);
}

static void judge(struct evidence *e)
{
	const struct asker_key *key = NULL;
	const struct icmp *worst = NULL;
	struct finding *f;
	uint64_t n, mtu;

	for_each_row(r, e, METER_icmp) {
		const struct icmp *i = (const void *)r.words;

		/* other hosts' that are passed on: of each the first ones are right */
		if (i->forwarded[ICMP_TOO_BIG] || (worst && i->unheeded <= worst->unheeded))
			continue;
		worst = i;
		key = r.key;
	}
	n = worst ? worst->unheeded : 0;
	if (!worth(e, n, three.value))
		return;
	mtu = worst->mtu[0];
	f = finding_add(e->f, &kinds[UNHEEDED], -1, "%s said %" PRIu64 " times that a packet is "
			"too big (MTU %" PRIu64 "), and TCP sends more of them", router_text(key),
			n, mtu);
	finding_counted(e, f, n, "unheeded", "errors");
	finding_fact(f, "mtu", mtu, "bytes");
	finding_advise(f, "let ICMP \"too big\" of %s in: filters, and rp_filter; else ip route "
		       "change … mtu %" PRIu64, router_text(key), mtu);
}

DEFINE_SUBJECT(paths, "Paths through the network", .host = true)
