/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about the card and its link: damage, duplex, cloud allowances, radios. */
#include <inttypes.h>
#include <linux/ethtool.h>

#include "bpf/drop/drop.h"
#include "findings/settings.h"
#include "findings/subjects.h"
#include "lib/hw/hw.h"
#include "lib/util/log.h"

enum { DOWN, BROKEN, HALF_DUPLEX, ALLOWANCE, LINK_LOCAL, SCANS };

static const struct limit few = { 10, "10 frames" };
static const struct limit one = { 1, "one packet" };
static const struct limit tenth = { .1, "a tenth of the time" };
static const struct limit long_enough = { 10, "10 s" };

static const struct limit few_packets = { 10, "10 packets" };

static const struct finding_kind kinds[] = {
	[DOWN] = {
		.id = "link-down", RATED(CRITICAL, LOSS),
		RESTS(ALWAYS, 0, ON(drop) | ON(counters)),
		.title = "The link is down while packets are to be sent",
		.means = "The interface has no carrier, or is administratively down. Packets sent "
			 "through it are dropped.",
		.when = "the link is down now, and {1} that were to be sent were dropped in the "
			"window, or, if the interface is administratively down, found no route",
		.silent = "An interface through which nothing is sent.",
		.remedy = "Check cable, optics and switch port; for a veth its peer: ip link set "
			  "dev PEER up. If administratively down: ip link set dev IFACE up.",
		.symptom = "No route to host",
		.limits = { &few_packets },
	},
	[BROKEN] = {
		.id = "rx-broken", RATED(CRITICAL, LOSS),
		RESTS(ALWAYS, ON(counters), 0),
		.title = "Frames are damaged on the link",
		.means = "Their checksum (FCS) is wrong, or they are truncated. The card drops "
			 "them.",
		.when = "at least {1} were damaged in the window (rx_crc_errors, rx_frame_errors, "
			"tx_carrier_errors)",
		.remedy = "Check cable and optics: ethtool -m IFACE; and the duplex of the other "
			  "end: ethtool IFACE.",
		.symptom = "Connections are slow and retransmit at any load",
		.limits = { &few },
	},
	[HALF_DUPLEX] = {
		.id = "link-half-duplex", RATED(CRITICAL, LOSS),
		RESTS(ALWAYS, SETUP, ON(counters)),
		.title = "The link is half duplex",
		.means = "It cannot send while it receives, which causes collisions and costs most "
			 "of the rate. Almost always one end has autonegotiation off and the other "
			 "fell back to half duplex.",
		.when = "the driver reports half duplex and {1} collided (`show IFACE hw` reports "
			"it without collisions)",
		.remedy = "Turn autonegotiation on at both ends: ethtool -s IFACE autoneg on, and "
			  "the same at the switch.",
		.symptom = "Transfers are slow, and slower in both directions at once",
		.limits = { &few },
	},
	[ALLOWANCE] = {
		.id = "allowance-exceeded", RATED(CRITICAL, LOSS),
		RESTS(EITHER, 0, ON(hwstat) | ON(counters)),
		.title = "The instance exceeds its network allowance",
		.means = "The cloud provider limits bandwidth, packets per second and connections "
			 "by instance size. The provider queues or drops what exceeds them.",
		.when = "at least {1} exceeded a limit in the window (over_bw_in, over_bw_out, "
			"over_pps, over_conntrack)",
		.remedy = "A larger instance, or less traffic.",
		.symptom = "Packets are lost although neither host nor card is busy",
		.limits = { &one },
	},
	[LINK_LOCAL] = {
		.id = "allowance-linklocal", RATED(CRITICAL, LOSS),
		RESTS(EITHER, 0, ON(hwstat) | ON(counters)),
		.title = "Too many packets to the provider's DNS, time or metadata service",
		.means = "Services at link-local addresses are limited to 1024 packets per second, "
			 "whatever the instance size.",
		.when = "at least {1} exceeded the limit in the window (over_linklocal)",
		.remedy = "A cache on this machine: systemd-resolved, nscd.",
		.symptom = "DNS is slow or fails now and then",
		.limits = { &one },
	},
	[SCANS] = {
		.id = "wifi-scans", RATED(WARNING, RISK),
		RESTS(ALWAYS, ON(wifi), 0),
		.title = "The radio spends much of its time scanning",
		.means = "Packets wait while the radio listens on other channels.",
		.when = "scans take {1} in a window of {2} or more",
		.remedy = "Make the program that requests the scans scan fewer channels, or less "
			  "often: nicprobe wifi IFACE names it.",
		.symptom = "Wireless latency rises for a second, again and again",
		.limits = { &tenth, &long_enough },
	},
};

/* Packets that were to be sent and were dropped, for any reason. */
static uint64_t unsent(const struct evidence *e)
{
	uint64_t n = 0;

	for_each_row(r, e, METER_drop)
		n += ((const struct drop_key *)r.key)->direction == DROP_TX ? *r.words : 0;
	return has(e, METER_drop) ? n : kernel_counted(e, "ip -s link", "tx_dropped") +
					kernel_counted(e, "ip -s link", "tx_carrier_errors");
}

/* Only in an interval: earlier losses may have had another cause than the current state. */
static void judge_down(struct evidence *e)
{
	const struct hw *h = e->s->link.known && !e->s->link.up ? setup(e) : NULL;
	const char *dev = e->s->meta.iface;
	uint64_t n = unsent(e);
	struct finding *f;

	if (h && !h->iface.up)		/* its routes went with it */
		n += kernel_counted(e, "nstat", "IpOutNoRoutes");
	if (!e->s->interval || !e->s->link.known || e->s->link.up ||
	    !worth(e, n, few_packets.value))
		return;
	f = finding_add(e->f, &kinds[DOWN], -1, "%s %s, and %s", dev, h && !h->iface.up ?
			"is administratively down" : "has no carrier",
			packets(n, "that were to be sent were dropped"));
	finding_packets(e, f, n);
	if (h && !h->iface.up) {
		finding_fix(f, "ip", "link", "set", "dev", dev, "up");
		finding_changes(f, "brings the interface up");
	} else if (is_hardware(e)) {
		finding_advise(f, "check cable, optics and switch port: ethtool %s; dmesg | grep "
			       "%s",
			       dev, dev);
	} else {
		finding_advise(f, "its peer is down, or no process holds it open: ip -d link show "
			       "dev %s",
			       dev);
	}
}

static void judge_broken(struct evidence *e)
{
	uint64_t n = kernel_counted(e, "ip -s link", "rx_crc_errors") +
		     kernel_counted(e, "ip -s link", "rx_frame_errors") +
		     kernel_counted(e, "ip -s link", "tx_carrier_errors");
	const char *dev = e->s->meta.iface;
	struct finding *f;

	if (!worth(e, n, few.value))
		return;
	f = finding_add(e->f, &kinds[BROKEN], -1,
			"%" PRIu64 " frames were damaged on arrival at %s, or could not be sent "
			"intact",
			n, dev);
	finding_counted(e, f, n, "frames", "frames");
	finding_advise(f, "check cable and optics: ethtool -m %s; ethtool %s; ip -s -s link show "
		       "dev %s",
		       dev, dev, dev);
}

/*
 * Reading link settings costs some cards (ena) an interrupt: only if asked for, or on collisions.
 */
static void judge_duplex(struct evidence *e)
{
	uint64_t n = kernel_counted(e, "ip -s link", "collisions");
	const struct hw *h = e->hw || worth(e, n, few.value) ? setup(e) : NULL;
	struct finding *f;

	if (!h || !*h->card.subsystem || !h->carrier ||
	    setting_of(&group_link, &h->link, "duplex") != DUPLEX_HALF)
		return;
	f = finding_add(e->f, &kinds[HALF_DUPLEX], -1, "the link of %s is half duplex: it cannot "
			"send while it receives", h->iface.name);
	finding_harm(f, rate(e, n));
	finding_strikes(f, rate(e, received(e, -1, -1) + sent_packets(e)));
	finding_fact(f, "speed", setting_of(&group_link, &h->link, "speed"), "Mbit/s");
	finding_fix(f, "ethtool", "-s", h->iface.name, "autoneg", "on");
	finding_changes(f, "both ends negotiate the best mode; the link stops for seconds");
	finding_advise(f, "check the other end as well");
}

static const char *const instance[] = {
	"bw_in_allowance_e", "bw_out_allowance_e", "pps_allowance_e", "conntrack_allowance_e", NULL
}, *const linklocal[] = { "linklocal_allowance_e", NULL };

static void judge_allowance(struct evidence *e)
{
	static const char *const names[] = { "over_bw_in", "over_bw_out", "over_pps",
					    "over_conntrack" };
	const char *most = "";
	uint64_t n = 0, top = 0, local;
	struct finding *f;
	int queue;

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		uint64_t one_ = card_counted(e, names[i], &queue);

		n += one_;
		if (one_ > top) {
			top = one_;
			most = names[i];
		}
	}
	n = n ?: counted_like(e, "ethtool -S", instance);
	if (worth(e, n, one.value)) {
		f = finding_add(e->f, &kinds[ALLOWANCE], -1, "%s (most: %s)",
				packets(n, "exceeded what this instance size allows"),
				most);
		finding_packets(e, f, n);
		finding_advise(f, "a larger instance, or less traffic: ethtool -S %s | grep "
			       "allowance",
			       e->s->meta.iface);
	}
	local = card_counted(e, "over_linklocal", &queue) ?:
		counted_like(e, "ethtool -S", linklocal);
	if (!worth(e, local, one.value))
		return;
	f = finding_add(e->f, &kinds[LINK_LOCAL], -1, "%s",
			packets(local, "exceeded the limit of the provider's DNS, time or metadata "
				"service"));
	finding_packets(e, f, local);
	finding_advise(f, "use a cache on this machine: systemd-resolved, nscd; no instance size "
		       "allows more");
}

static void judge_scans(struct evidence *e)
{
	const struct metric *k = metric_of(&meter_wifi, "duration");
	uint64_t all = 0, most = 0;
	char who[64] = "";
	struct finding *f;

	for_each_row(r, e, METER_wifi) {
		uint64_t ns = r.words[k->at];

		all += ns;
		if (ns <= most)
			continue;
		most = ns;
		meter_wifi.key.text(r.key, 0, who, sizeof(who));
	}
	if (!has(e, METER_wifi) || e->s->seconds < long_enough.value ||
	    all * 1e-9 < tenth.value * e->s->seconds)
		return;
	f = finding_add(e->f, &kinds[SCANS], -1,
			"scans take %.0f%% of the time, most of it for %s: packets wait while the "
			"radio is on other channels",
			all * 1e-7 / e->s->seconds, who);
	finding_harm(f, all * 1e-9 / e->s->seconds);
	finding_strikes(f, rate(e, received(e, -1, -1) + sent_packets(e)));
	finding_advise(f, "nicprobe wifi %s; scan fewer channels, or less often, in the program "
		       "that requests it",
		       e->s->name);
}

static void judge(struct evidence *e)
{
	judge_down(e);
	judge_broken(e);
	judge_duplex(e);
	judge_allowance(e);
	judge_scans(e);
}

DEFINE_SUBJECT(link, "The card and its link")
