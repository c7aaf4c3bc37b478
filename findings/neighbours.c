/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about neighbours of the host that do not tell their address, while packets wait. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/socket.h>

#include "bpf/neigh/neigh.h"
#include "findings/subjects.h"
#include "lib/util/log.h"

enum { SILENT };

static const struct limit few = { 10, "10 packets" };
static const struct limit share = { .1, "a tenth of the resolutions of its interface and family" };
/*
 * A ping of one packet per second has three or four dropped until the kernel gives up, after three
 * seconds; two who watch, or a scan that tries some ports, have seven or eight.
 */
static const struct limit each = { 10, "10 for each resolution that failed" };

static const struct finding_kind kinds[] = {
	[SILENT] = {
		.id = "neighbours-silent", RATED(CRITICAL, LOSS),
		RESTS(ALWAYS, ON(neigh), 0),
		.title = "Neighbours do not answer, and packets for them are dropped",
		.means = "A packet waits until the address of its neighbour is known (ARP, "
			 "neighbour discovery). Nothing answered, and the kernel dropped what "
			 "waited: the host is off, or it is not on this link, as the VLAN or the "
			 "prefix length is not the right one, or a route names a gateway that is "
			 "not there.",
		.when = "at least {1}, and {2}, were dropped in the window as nothing answered; "
			"and at least {3} failed so",
		.silent = "A host that is pinged once a second and is not there, and a scan that "
			  "sends a few packets to each address: fewer wait.",
		.remedy = "ip neigh show dev IFACE nud failed nud incomplete names them. Should "
			  "they be on that link at all: ip route get ADDRESS, and the prefix "
			  "length in ip addr show dev IFACE? Then: are they up, and in this VLAN?",
		.symptom = "No route to host",
		.limits = { &few, &each, &share },
		/* forged senders on this link, whom this host answers */
		.follows = { "listen-cookies", "listen-syns-dropped" },
	},
};

static uint64_t ended(const struct neigh *n)
{
	return n->ends[NEIGH_ANSWERED] + n->ends[NEIGH_FAILED];
}

/* Are they what is wrong here, and not somebody who looks whether a host is there? */
static bool matters(const struct neigh *n)
{
	uint64_t failed = n->ends[NEIGH_FAILED];

	return failed >= share.value * ended(n) && n->drops[NEIGH_DROP_FAILED] >=
	       each.value * failed;
}

/* Those that found no room may have waited for neighbours that answer late: not if most fail. */
static uint64_t overflowed(const struct neigh *n)
{
	return n->ends[NEIGH_FAILED] > n->ends[NEIGH_ANSWERED] ? n->drops[NEIGH_DROP_OVERFLOW] : 0;
}

static void judge(struct evidence *e)
{
	const struct neigh_key *key = NULL;
	const struct neigh *most = NULL;
	uint64_t dropped, more;
	struct finding *f;

	for_each_row(r, e, METER_neigh) {
		const struct neigh_key *of = r.key;
		const struct neigh *n = (const void *)r.words;

		if (!*of->device || !n->ends[NEIGH_FAILED] || !matters(n) ||
		    (most && n->drops[NEIGH_DROP_FAILED] <= most->drops[NEIGH_DROP_FAILED]))
			continue;
		most = n;
		key = of;
	}
	dropped = most ? most->drops[NEIGH_DROP_FAILED] : 0;
	if (!worth(e, dropped, few.value))
		return;
	more = overflowed(most);
	f = finding_add(e->f, &kinds[SILENT], -1, "%" PRIu64 " of %" PRIu64 " resolutions of IPv%d "
			"neighbours on %.*s failed: %s%s", (uint64_t)most->ends[NEIGH_FAILED],
			ended(most), key->family == AF_INET ? 4 : 6, NEIGH_NAME_SIZE, key->device,
			packets(dropped, "that waited for an answer were dropped"), more ?
			text(", and %" PRIu64 " more found no room to wait", more) : "");
	finding_packets(e, f, dropped + more);
	finding_fact(f, "failed", most->ends[NEIGH_FAILED], "resolutions");
	finding_fact(f, "resolutions", ended(most), "resolutions");
	finding_advise(f, "which: ip neigh show dev %.*s nud failed nud incomplete; should they be "
		       "on that link at all (ip route get ADDRESS, prefix length in ip addr), and "
		       "are they up, and in this VLAN?", NEIGH_NAME_SIZE, key->device);
}

DEFINE_SUBJECT(neighbours, "Neighbours of the host", .host = true)
