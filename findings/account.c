/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about the ledger: packets that only one of driver and nicprobe counted. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/drop/drop.h"
#include "bpf/ledger/ledger.h"
#include "bpf/xsk/xsk.h"
#include "findings/subjects.h"
#include "lib/core/nic_driver.h"
#include "lib/read/derived.h"
#include "lib/util/log.h"

enum {
	UNSEEN_RX, UNSEEN_TX, MISSED_RX, MISSED_TX, UNCOUNTED_RX, UNCOUNTED_TX, BYTES_DIFFER,
	RESTARTED
};

static const struct limit few = { 100, "100 packets" };
static const struct limit share = { .001, "a thousandth of the packets" };
static const struct limit buffer = { 65550, "a buffer of 64 KiB has" };

static const struct finding_kind kinds[] = {
	[UNSEEN_RX] = {
		.id = "unseen-received", RATED(INFO, BLIND),
		RESTS(RECEIVED, ON(ledger), ON(drop)),
		.title = "The driver received packets that nicprobe did not see",
		.means = "They bypassed the points at which nicprobe counts: they went to an "
			 "AF_XDP socket with zero copy, or an XDP program that runs before ours "
			 "took them.",
		.when = "at least {1} and {2} that the driver counted as received were not seen by "
			"nicprobe (meter ledger)",
		.remedy = "ss --xdp; bpftool net",
		.symptom = "nicprobe counts less than ethtool -S",
		.limits = { &few, &share },
		.follows = { "hook-blind", "xdp-redirect-failed", "xdp-send-failed" },
	},
	[UNSEEN_TX] = {
		.id = "unseen-sent", RATED(INFO, BLIND),
		RESTS(SENT, ON(ledger), ON(drop)),
		.title = "The driver sent packets that nicprobe did not see",
		.means = "They bypassed the kernel's transmit events: AF_XDP, pktgen, netconsole, "
			 "or sockets with PACKET_QDISC_BYPASS.",
		.when = "at least {1} and {2} that the driver counted as sent were not seen by "
			"nicprobe (meter ledger)",
		.remedy = "ss --xdp; ss --packet",
		.symptom = "nicprobe counts less than ethtool -S",
		.limits = { &few, &share },
		.follows = { "hook-blind" },
	},
	[MISSED_RX] = {
		.id = "missed-received", RATED(INFO, BLIND),
		RESTS(RECEIVED, ON(ledger), ON(drop)),
		.title = "The kernel skipped nicprobe's programs for some received packets",
		.means = "rx-stack counted these packets, so they passed rx-nic as well, but the "
			 "kernel did not run the programs there: it exempts some contexts from "
			 "tracing. Everything counted at rx-nic and before it is short by this "
			 "number; rx-stack is complete.",
		.when = "at least {1} and {2} that the driver counted as received were seen at "
			"rx-stack but not at rx-nic (meter ledger)",
		.remedy = "nicprobe attach IFACE --rx xdp, if XDP may be used on this interface",
		.symptom = "rx-nic has fewer packets than rx-stack",
		.limits = { &few, &share },
	},
	[MISSED_TX] = {
		.id = "missed-sent", RATED(INFO, BLIND),
		RESTS(SENT, ON(ledger), ON(drop)),
		.title = "The kernel skipped nicprobe's programs for some sent packets",
		.means = "tx-stack and the driver counted these packets, so they passed tx-nic as "
			 "well, but the kernel did not run the programs there. tx-nic is short by "
			 "this number; tx-stack is complete.",
		.when = "at least {1} and {2} that the driver counted as sent were seen at "
			"tx-stack but not at tx-nic, and no qdisc dropped any (meters ledger, "
			"drop)",
		.remedy = "Use the figures of tx-stack: nicprobe show IFACE pktsize",
		.symptom = "tx-nic has fewer packets than tx-stack",
		.limits = { &few, &share },
	},
	[UNCOUNTED_RX] = {
		.id = "uncounted-received", RATED(INFO, BLIND),
		RESTS(RECEIVED, ON(ledger), ON(drop)),
		.title = "nicprobe saw received packets that the driver did not count",
		.means = "The driver's counters lag, or do not include some packets.",
		.when = "at least {1} and {2} that nicprobe saw are missing from the driver's "
			"counters (meter ledger)",
		.remedy = "Read ethtool -S IFACE twice and compare.",
		.symptom = "nicprobe counts more than ethtool -S",
		.limits = { &few, &share },
		.follows = { "hook-blind" },
	},
	[UNCOUNTED_TX] = {
		.id = "uncounted-sent", RATED(INFO, BLIND),
		RESTS(SENT, ON(ledger), ON(drop)),
		.title = "The driver did not count packets that it was given to send",
		.means = "They were lost in the driver or the card, or have not completed yet.",
		.when = "at least {1} and {2} that were passed to the driver are missing from its "
			"counters (meter ledger)",
		.remedy = "nicprobe show IFACE txlat",
		.symptom = "nicprobe counts more than ethtool -S",
		.limits = { &few, &share },
		.follows = { "tx-queue-stuck" },
	},
	[BYTES_DIFFER] = {
		.id = "bytes-differ", RATED(INFO, BLIND),
		RESTS(EITHER, ON(ledger), 0),
		.title = "Driver and nicprobe agree on packets but not on bytes",
		.means = "Drivers differ in whether they count the link header, padding and "
			 "checksum. This driver counts differently from what nicprobe knows about "
			 "it; it may be a different version.",
		.when = "{1} or more were counted, the packet counts are identical, and the byte "
			"counts differ by more than {2} (meter ledger)",
		.silent = "A buffer whose bytes the driver has counted while it is read, and which "
			  "it is about to count.",
		.remedy = "ethtool -i IFACE; nicprobe drivers DRIVER",
		.symptom = "nicprobe's byte counts differ from ip -s link",
		.limits = { &few, &buffer },
	},
	[RESTARTED] = {
		.id = "counters-restarted", RATED(INFO, BLIND),
		RESTS(ALWAYS, ON(hwstat) | ON(ledger), 0),
		.title = "The driver's counters restarted from 0",
		.means = "The driver recreated its queues (link down and up, ethtool -L or -G, "
			 "XDP) and lost what it had counted. The ledger compares with what is "
			 "left.",
		.when = "the driver's counters went back (restarts)",
		.remedy = "nicprobe detach IFACE; nicprobe attach IFACE",
		.symptom = "Counters of ethtool -S went back",
	},
};

/* "queue 3 of eth0", "eth0" */
static const char *whose(const struct evidence *e, const struct ledger_key *key)
{
	unsigned queue = ledger_queue(key);

	return queue == LEDGER_ALL ? e->s->meta.iface :
				     text("queue %u of %s", queue, e->s->meta.iface);
}

/* The driver counts at completion; without txlat, packets still in the ring look uncounted. */
static bool may_lag(const struct evidence *e, const struct ledger_key *key, int64_t n)
{
	const char *when = driver_find(e->s->meta.driver)->bytes.when;

	return key->way && when && !strcmp(when, "completion") && n < 0 && n >= -LEDGER_RING &&
	       !(e->s->meta.on >> METER_txlat & 1);
}

static void told(struct evidence *e, struct finding *f, const struct ledger_key *key, int64_t n)
{
	unsigned queue = ledger_queue(key);

	if (f && queue != LEDGER_ALL)
		f->queue = queue;
	finding_packets(e, f, n < 0 ? -n : n);
}

/* "700 packets", "at least 13 packets (2.6%)": relative to what the driver counted. */
static const char *how_many(int64_t n, uint64_t within, uint64_t of)
{
	uint64_t many = n < 0 ? -n : n;
	const char *how = text("%s%" PRIu64 " packet%s", within ? "at least " : "", many,
			       many == 1 ? "" : "s");

	return !of || many > of ? how : text("%s (%.3g%%)", how, 100. * many / of);
}

/* The packets that the driver and the stack point counted: they must have passed the nic point. */
static int64_t missed(const struct evidence *e, const struct ledger_key *key,
		      const struct ledger *l, int64_t n)
{
	uint64_t within;
	int64_t more = residue_of(metric_of(&meter_ledger, "between"), l->between, &within);

	if (!key->way)
		more = -more;
	else if (!has(e, METER_drop))
		return 0;
	for_each_row(r, e, METER_drop)
		if (key->way && !strcmp(drop_who(r.key), "qdisc") && *r.words)
			return 0;
	return n <= 0 || more <= 0 ? 0 : more < n ? more : n;
}

static void tell_missed(struct evidence *e, const struct ledger_key *key, int64_t n,
			const char *many)
{
	struct finding *f;

	f = finding_add(e->f, &kinds[key->way ? MISSED_TX : MISSED_RX], -1,
			"the kernel skipped our programs for %s that were %s (%s): the figures of "
			"%s are short by this number, those of %s are complete",
			many, key->way ? "sent" : "received",
			whose(e, key), point_names[key->way ? TX_NIC : RX_NIC],
			point_names[key->way ? TX_STACK : RX_STACK]);
	if (key->way)
		finding_advise(f, "use the figures of tx-stack: nicprobe show %s pktsize",
				  e->s->name);
	else
		finding_advise(f, "use the figures of rx-stack: nicprobe show %s pktsize; or "
			       "reattach with --rx xdp, if XDP may be used here",
			       e->s->name);
	told(e, f, key, n);
}

/* "queue 0: xdpsock (pid 12)"; "": no AF_XDP socket known for the queue. Valid as text(). */
static const char *sockets_of(const struct evidence *e, const struct ledger_key *key)
{
	unsigned queue = ledger_queue(key), others = 0;
	const char *first = "";

	for_each_row(r, e, METER_xsk) {
		if (queue != LEDGER_ALL && queue != xsk_queue(r.key))
			continue;
		if (!*first)
			first = text("queue %u: %s", xsk_queue(r.key), xsk_whose(r.key));
		else
			others++;
	}
	return others ? text("%s and %u more", first, others) : first;
}

static void tell_packets(struct evidence *e, const struct ledger_key *key, int64_t n,
			 const char *many)
{
	const char *of = whose(e, key), *sockets = sockets_of(e, key);
	struct finding *f;

	if (n > 0 && !key->way) {
		f = finding_add(e->f, &kinds[UNSEEN_RX], -1,
				"the driver counted %s received (%s) that nicprobe did not see",
				many, of);
		if (*sockets)
			finding_advise(f, "AF_XDP may have taken them (%s), or an XDP program that "
				       "runs before ours: bpftool net",
				       sockets);
		else
			finding_advise(f, "AF_XDP or an XDP program that runs before ours may have "
				       "taken them: ss --xdp; bpftool net");
	} else if (n > 0) {
		f = finding_add(e->f, &kinds[UNSEEN_TX], -1,
				"the driver counted %s sent (%s) that nicprobe did not see", many,
				of);
		finding_advise(f, "which sender bypasses the transmit events? AF_XDP (%s), pktgen, "
			       "netconsole, sockets with PACKET_QDISC_BYPASS",
			       *sockets ? sockets : "ss --xdp");
	} else if (!key->way) {
		f = finding_add(e->f, &kinds[UNCOUNTED_RX], -1,
				"nicprobe saw %s (%s) that the driver did not count as received",
				many, of);
		finding_advise(f, "the driver's counters lag or are incomplete: read ethtool -S %s "
			       "twice",
			       e->s->meta.iface);
	} else {
		f = finding_add(e->f, &kinds[UNCOUNTED_TX], -1,
				"the driver was given %s (%s) that it did not count as sent", many,
				of);
		finding_advise(f, "lost in the driver or the card, or not completed yet: nicprobe "
			       "show %s txlat",
			       e->s->name);
	}
	told(e, f, key, n);
}

static void tell_bytes(struct evidence *e, const struct ledger_key *key, uint64_t packets,
		       int64_t n)
{
	double more = packets ? (double)(n < 0 ? -n : n) / packets : 0;
	struct finding *f = finding_add(e->f, &kinds[BYTES_DIFFER], -1,
					"for the same packets (%s, %s) the driver counted %" PRId64
					" bytes %s than nicprobe, %.3g per packet",
					key->way ? "sent" : "received",
					whose(e, key), n < 0 ? -n : n, n < 0 ? "fewer" : "more",
					more);

	finding_advise(f, "is the driver a different version? ethtool -i %s; what nicprobe knows "
		       "about it: nicprobe drivers %s",
		       e->s->meta.iface, e->s->meta.driver);
	told(e, f, key, 0);
	finding_strikes(f, rate(e, packets));
}

/* Enough packets to report: both absolutely and relative to the total. */
static bool enough(const struct evidence *e, int64_t n, uint64_t of)
{
	uint64_t many = n < 0 ? -n : n;

	return worth(e, many, few.value) && many >= share.value * of;
}

/* Returns whether it reported anything. */
static bool tell(struct evidence *e, unsigned row)
{
	const struct table *t = &e->s->tables[METER_ledger];
	const struct ledger_key *key = (const void *)(t->keys + row * sizeof(*key));
	const struct ledger *l = (const void *)row_words(t, row, 0);
	const struct metric *k = metric_of(&meter_ledger, "residue"), *kb = k + 1;
	int64_t packets, bytes, missing;
	uint64_t within, bytes_within;
	bool said = false;

	while (strcmp(kb->name, "residue"))
		kb++;
	packets = residue_of(k, l->residue, &within);
	bytes = residue_of(kb, l->residue_bytes, &bytes_within);
	missing = missed(e, key, l, packets);
	if (enough(e, missing, l->driver)) {
		tell_missed(e, key, missing, how_many(missing, 0, l->driver));
		said = true;
	}
	if (enough(e, packets - missing, l->driver) && !may_lag(e, key, packets)) {
		tell_packets(e, key, packets - missing,
			     how_many(packets - missing, within, l->driver));
		said = true;
	} else if (!packets && !within && llabs(bytes) > buffer.value &&
		   worth(e, l->ours, few.value)) {
		/*
		 * Bytes are exact only if no packet was counted between the two readings; and on
		 * 64 bits the kernel reads bytes and packets of a driver one by one, while another
		 * CPU may stand between the two (u64_stats_sync, dev_lstats_read(), 6.1 to 6.18).
		 */
		tell_bytes(e, key, l->ours, bytes);
		said = true;
	}
	return said;
}

/* Per direction: report the sum of all queues, or, if that agrees, the first queue that differs. */
static void judge(struct evidence *e)
{
	const struct table *t = &e->s->tables[METER_ledger];
	const struct ledger_key *keys = (const void *)t->keys;
	int queue;

	if (!has(e, METER_ledger))
		return;
	if (card_counted(e, "restarts", &queue)) {
		struct finding *f = finding_add(e->f, &kinds[RESTARTED], -1,
						"the driver of %s recreated its queues and "
						"restarted its counters from 0: what it had "
						"counted before is missing",
						e->s->meta.iface);

		finding_harm(f, rate(e, received(e, -1, -1) + sent_packets(e)));
		finding_fix(f, "nicprobe", "detach", e->s->meta.iface);
		finding_fix(f, "nicprobe", "attach", e->s->meta.iface);
		return;
	}
	for (int way = 0; way < 2; way++) {
		bool said = false;

		for (unsigned row = t->rows; row-- && !said; )	/* the sum follows its queues */
			if (keys[row].way == way)
				said = tell(e, row);
	}
}

DEFINE_SUBJECT(account, "Account: driver and nicprobe counts compared")
