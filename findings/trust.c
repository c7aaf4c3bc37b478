/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about nicprobe's own figures: what they lack, what others counted and we did not. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../bpf/driver.h"
#include "../bpf/hwstat.h"
#include "../bpf/ledger.h"
#include "../bpf/qdisc.h"
#include "../bpf/skblife.h"
#include "../bpf/txlat.h"
#include "../lib/derived.h"
#include "../lib/driver.h"
#include "../lib/log.h"
#include "subjects.h"

enum {
	UNSEEN_RX, UNSEEN_TX, UNCOUNTED_RX, UNCOUNTED_TX, BYTES_DIFFER, RESTARTED,
	TABLE_FULL, NOT_TIMED, MODULE_GONE
};

static const struct limit few = { 100, "100 packets" };
static const struct limit some = { 10, "10 packets or more" };
static const struct limit share = { .001, "a thousandth of the packets" };

#define BLIND .severity = SEVERITY_INFO, .harm = HARM_BLIND

static const struct finding_kind kinds[] = {
	[UNSEEN_RX] = {
		.id = "unseen-received", BLIND,
		.title = "The driver received packets that nicprobe did not see",
		.means = "They went past the places where nicprobe counts: to an AF_XDP socket "
			 "with zero copy, or an XDP program before ours took them.",
		.when = "{1} and {2} that the driver counted as received were not seen (meter "
			"ledger)",
		.remedy = "ss --xdp; bpftool net",
		.symptom = "nicprobe counts less than ethtool -S",
		.limits = { &few, &share },
	},
	[UNSEEN_TX] = {
		.id = "unseen-sent", BLIND,
		.title = "The driver sent packets that nicprobe did not see",
		.means = "They went past the kernel's events: AF_XDP, pktgen, netconsole, sockets "
			 "with PACKET_QDISC_BYPASS.",
		.when = "{1} and {2} that the driver counted as sent were not seen (meter ledger)",
		.remedy = "ss --xdp; ss --packet",
		.symptom = "nicprobe counts less than ethtool -S",
		.limits = { &few, &share },
	},
	[UNCOUNTED_RX] = {
		.id = "uncounted-received", BLIND,
		.title = "nicprobe saw received packets that the driver does not count",
		.means = "The driver's counters lag behind, or leave some packets out.",
		.when = "{1} and {2} that were seen are not in the driver's counters (meter "
			"ledger)",
		.remedy = "ethtool -S IFACE, twice",
		.symptom = "nicprobe counts more than ethtool -S",
		.limits = { &few, &share },
	},
	[UNCOUNTED_TX] = {
		.id = "uncounted-sent", BLIND,
		.title = "nicprobe saw the driver get packets that it does not count as sent",
		.means = "They were lost in the driver or the card, or are not completed yet.",
		.when = "{1} and {2} that were handed over are not in the driver's counters (meter "
			"ledger)",
		.remedy = "nicprobe show IFACE txlat",
		.symptom = "nicprobe counts more than ethtool -S",
		.limits = { &few, &share },
		.follows = { "tx-queue-stuck" },
	},
	[BYTES_DIFFER] = {
		.id = "bytes-differ", BLIND,
		.title = "Driver and nicprobe agree on the packets and not on the bytes",
		.means = "Drivers count the link header, padding or checksum, or not. This one "
			 "counts otherwise than what nicprobe knows of it: it may be another "
			 "version.",
		.when = "the packets agree, {1} or more, and the bytes do not (meter ledger)",
		.remedy = "ethtool -i IFACE; nicprobe drivers DRIVER",
		.symptom = "nicprobe's bytes are not those of ip -s link",
		.limits = { &few },
	},
	[RESTARTED] = {
		.id = "counters-restarted", BLIND,
		.title = "The driver began to count from 0 again",
		.means = "Its queues were made anew (link down and up, ethtool -L or -G, XDP), and "
			 "what it had counted is gone. The ledger compares with what is left.",
		.when = "the driver says so (restarts)",
		.remedy = "nicprobe detach IFACE; nicprobe attach IFACE",
		.symptom = "ethtool -S went back",
	},
	[TABLE_FULL] = {
		.id = "table-full", BLIND,
		.title = "Packets could not be followed: a table of nicprobe is full",
		.means = "A latency meter keeps each packet until its end. More were under way "
			 "than there is room for, so that the figures are of some of them.",
		.when = "{1} and {2} were not followed (meters txlat, qdisc, skblife)",
		.remedy = "Attach anew: the tables are sized by the rings and queues of that "
			  "moment; or --sample 16.",
		.symptom = "A latency histogram has fewer packets than were sent",
		.limits = { &few, &share },
	},
	[NOT_TIMED] = {
		.id = "qdisc-splits", BLIND,
		.title = "The qdisc splits large packets, so that their wait is not known",
		.means = "tbf and cake cut large buffers into packets of their own, which nicprobe "
			 "cannot tell from others.",
		.when = "{1}, and more than could be timed, were split by the qdisc (meter qdisc)",
		.remedy = "While measuring: ethtool -K IFACE tso off gso off",
		.symptom = "The meter qdisc has few samples",
		.limits = { &some },
	},
	[MODULE_GONE] = {
		.id = "driver-module-gone", BLIND,
		.title = "The module whose functions were counted was unloaded",
		.means = "Its functions are counted no more, also after it is loaded again.",
		.when = "the module of a function of the meter driver has gone, or was loaded anew",
		.remedy = "nicprobe detach; nicprobe attach -m driver",
		.symptom = "The meter driver stands still",
	},
};
KINDS(kinds)

/* "queue 3 of eth0", "eth0" */
static const char *whose(const struct evidence *e, const struct ledger_key *key)
{
	unsigned queue = ledger_queue(key);

	return queue == LEDGER_ALL ? text("%s", e->s->meta.iface) :
				     text("queue %u of %s", queue, e->s->meta.iface);
}

/* What was not completed when we looked is known to txlat alone. */
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
	finding_harm(f, rate(e, n < 0 ? -n : n));
	finding_fact(f, "packets", n < 0 ? -n : n, "packets");
}

static void tell_packets(struct evidence *e, const struct ledger_key *key, int64_t n)
{
	const char *of = whose(e, key);
	struct finding *f;

	if (n > 0 && !key->way) {
		f = finding_add(e->f, &kinds[UNSEEN_RX], -1, "the driver counted %" PRId64 " "
				"packets received (%s) that we did not see", n, of);
		finding_advise(f, "AF_XDP or an XDP program before ours may have them: ss --xdp; "
			       "bpftool net");
	} else if (n > 0) {
		f = finding_add(e->f, &kinds[UNSEEN_TX], -1, "the driver counted %" PRId64 " "
				"packets sent (%s) that we did not see", n, of);
		finding_advise(f, "who sends past the kernel's events? AF_XDP (ss --xdp), pktgen, "
			       "netconsole, sockets with PACKET_QDISC_BYPASS");
	} else if (!key->way) {
		f = finding_add(e->f, &kinds[UNCOUNTED_RX], -1, "we saw %" PRId64 " packets (%s) "
				"that the driver did not count as received", -n, of);
		finding_advise(f, "its counters lag, or leave some out: ethtool -S %s, twice",
			       e->s->meta.iface);
	} else {
		f = finding_add(e->f, &kinds[UNCOUNTED_TX], -1, "we handed it %" PRId64 " packets "
				"(%s) that the driver did not count as sent", -n, of);
		finding_advise(f, "lost in the driver or the card, or not completed: nicprobe show "
			       "%s txlat",
			       e->s->name);
	}
	told(e, f, key, n);
}

static void tell_bytes(struct evidence *e, const struct ledger_key *key, uint64_t packets,
		       int64_t n)
{
	double more = packets ? (double)(n < 0 ? -n : n) / packets : 0;
	struct finding *f = finding_add(e->f, &kinds[BYTES_DIFFER], -1, "of the same packets (%s, "
					"%s) the driver counted %" PRId64 " bytes %s than we, %.3g "
					"per packet", key->way ? "sent" : "received",
					whose(e, key), n < 0 ? -n : n, n < 0 ? "fewer" : "more",
					more);

	finding_advise(f, "is it another version of the driver? ethtool -i %s; what is known of "
		       "it: nicprobe drivers %s", e->s->meta.iface, e->s->meta.driver);
	told(e, f, key, 0);
}

/* Whether it said something. */
static bool tell(struct evidence *e, unsigned row)
{
	const struct table *t = &e->s->tables[METER_ledger];
	const struct ledger_key *key = (const void *)(t->keys + row * sizeof(*key));
	const struct ledger *l = (const void *)row_words(t, row, 0);
	const struct metric *k = metric_of(&meter_ledger, "residue"), *kb = k + 1;
	int64_t packets, bytes;
	uint64_t within;

	while (strcmp(kb->name, "residue"))
		kb++;
	packets = residue_of(k, l->residue, &within);
	bytes = residue_of(kb, l->residue_bytes, &within);
	if (worth(e, packets < 0 ? -packets : packets, few.value) && !may_lag(e, key, packets) &&
	    (packets < 0 ? -packets : packets) >= share.value * l->driver)
		tell_packets(e, key, packets);
	else if (!packets && bytes && worth(e, l->ours, few.value))
		tell_bytes(e, key, l->ours, bytes);
	else
		return false;
	return true;
}

/* Of each direction what is left of all of it; where that is nothing, of a queue. */
static void judge_ledger(struct evidence *e)
{
	const struct table *t = &e->s->tables[METER_ledger];
	const struct ledger_key *keys = (const void *)t->keys;
	int queue;

	if (card_counted(e, "restarts", &queue)) {
		struct finding *f = finding_add(e->f, &kinds[RESTARTED], -1, "the driver of %s "
						"began to count from 0 again, as its queues were "
						"made anew: what it had counted before that is "
						"missing", e->s->meta.iface);

		finding_fix(f, "nicprobe", "detach", e->s->meta.iface);
		finding_fix(f, "nicprobe", "attach", e->s->meta.iface);
		return;
	}
	for (int way = 0; way < 2; way++) {
		bool said = false;

		for (unsigned row = t->rows; row-- && !said; )	/* all comes after its queues */
			if (keys[row].way == way)
				said = tell(e, row);
	}
}

static void tell_full(struct evidence *e, const char *meter, uint64_t full, uint64_t timed)
{
	struct finding *f;

	if (!worth(e, full, few.value) || full < share.value * (full + timed))
		return;
	f = finding_add(e->f, &kinds[TABLE_FULL], -1, "%s could not follow %" PRIu64 " packets: "
			"more were under way than there is room for", meter, full);
	finding_harm(f, rate(e, full));
	finding_fact(f, "packets", full, "packets");
	finding_advise(f, "attach anew, for tables that fit the rings as they are now; or nicprobe "
		       "attach %s -m %s --sample 16", e->s->name, meter);
}

static void judge_tables(struct evidence *e)
{
	uint64_t full[3] = {}, timed[3] = {}, split = 0;
	const struct table *t = &e->s->tables[METER_txlat];
	struct finding *f;

	for (unsigned row = 0; has(e, METER_txlat) && row < t->rows; row++) {
		const struct txlat *x = (const void *)row_words(t, row, 0);

		full[0] += x->lost[TXLAT_FULL];
		timed[0] += hist_count(metric_of(&meter_txlat, "completion"),
				       words_at(&x->completion.sum));
	}
	t = &e->s->tables[METER_qdisc];
	for (unsigned row = 0; has(e, METER_qdisc) && row < t->rows; row++) {
		const struct qdisc *q = (const void *)row_words(t, row, 0);

		full[1] += q->lost[QDISC_FULL];
		split += q->lost[QDISC_SEGMENTED];
		timed[1] += hist_count(metric_of(&meter_qdisc, "wait"), words_at(&q->wait.sum));
	}
	t = &e->s->tables[METER_skblife];
	for (unsigned row = 0; has(e, METER_skblife) && row < t->rows; row++) {
		const struct skblife *l = (const void *)row_words(t, row, 0);

		full[2] += l->lost[LIFE_FULL];
		timed[2] += l->came;
	}
	tell_full(e, "txlat", full[0], timed[0]);
	tell_full(e, "qdisc", full[1], timed[1]);
	tell_full(e, "skblife", full[2], timed[2]);
	if (!worth(e, split, some.value) || split <= timed[1])
		return;
	f = finding_add(e->f, &kinds[NOT_TIMED], -1, "%" PRIu64 " packets were not timed: the "
			"qdisc itself splits large ones", split);
	finding_harm(f, rate(e, split));
	finding_advise(f, "while measuring: ethtool -K %s tso off gso off", e->s->meta.iface);
}

static void judge_modules(struct evidence *e)
{
	const struct table *t = &e->s->tables[METER_driver];
	struct finding *f;

	for (unsigned row = 0; has(e, METER_driver) && row < t->rows; row++) {
		const char *module = driver_row_gone(t->keys + row * meter_driver.key_size);

		if (!module)
			continue;
		f = finding_add(e->f, &kinds[MODULE_GONE], -1, "the module %s was unloaded since, "
				"and its functions are counted no more", module);
		finding_fix(f, "nicprobe", "detach", e->s->name);
		finding_fix(f, "nicprobe", "attach", e->s->name, "-m", "driver");
		return;
	}
}

static void judge(struct evidence *e)
{
	if (has(e, METER_ledger))
		judge_ledger(e);
	judge_tables(e);
	judge_modules(e);
}

const struct subject subject_trust = {
	.name = "trust",
	.title = "Trust: what nicprobe's own figures lack",
	.kind = kind,
	.judge = judge,
};
