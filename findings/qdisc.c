/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about packets that wait or are dropped or marked in the qdisc, and about CE marks. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bpf/counters/counters.h"
#include "bpf/qdisc/qdisc.h"
#include "bpf/skblife/skblife.h"
#include "findings/sending.h"
#include "findings/subjects.h"
#include "lib/util/log.h"
#include "xdp/ecn.h"

enum { WAIT, DROPS, MARKED_HERE, MARKED };

static const struct limit enough = { 100, "100 packets" };
static const struct limit few = { 10, "10 packets" };
static const struct limit slow = { 1e-3, "1 ms" };
static const struct limit alone = { 5e-3, "5 ms" };
static const struct limit times = { 10, "10 times as long as the driver and the card" };
static const struct limit thousandth = { .001, "a thousandth of what is sent" };
static const struct limit hundredth = { .01, "a hundredth of the ECN-capable packets" };
static const struct limit marks = { 20, "20 packets" };

static const struct finding_kind kinds[] = {
	[WAIT] = {
		.id = "qdisc-wait", RATED(WARNING, WAIT),
		RESTS(SENT, ON(qdisc), ON(txlat)),
		.title = "Packets wait in the queueing discipline",
		.means = "The qdisc gets more than it may pass on: it shapes the rate, or the link "
			 "is full. All packets behind wait, and in a plain FIFO those include "
			 "other connections.",
		.when = "half of the packets of a queue, of {1} or more, wait {2} or more and {4}, "
			"or {3} or more if the time in the driver is unknown (meter qdisc)",
		.silent = "fq, netem, etf and taprio, which delay packets on purpose.",
		.remedy = "A higher rate for the shaper, or a lower limit; fair queueing "
			  "(fq_codel), so that short flows need not wait for long ones.",
		.symptom = "Latency rises while something else is sent",
		.limits = { &enough, &slow, &alone, &times },
	},
	[DROPS] = {
		.id = "qdisc-drops", RATED(CRITICAL, LOSS),
		RESTS(SENT, 0, ON(drop) | ON(counters) | ON(qdisc)),
		.title = "The queueing discipline drops packets",
		.means = "The queue above the driver was full, or its algorithm dropped a packet "
			 "to slow the sender down (codel, red, pie, cake). Packets are wire "
			 "packets; tc -s counts buffers, each of which GSO and TSO split into "
			 "several packets.",
		.when = "at least {1} and {2} were dropped in the window",
		.remedy = "tc -s qdisc shows which qdisc, its rate and its limit. A longer queue "
			  "absorbs bursts; a shaper needs a higher rate, or drops intentionally.",
		.symptom = "Sent packets are lost before they reach the card",
		.limits = { &few, &thousandth },
		.follows = { "link-down", "qdisc-wait", "tx-queue-stuck", "tx-ring-full",
			     "xps-one-queue" },
	},
	[MARKED_HERE] = {
		.id = "ecn-marked-here", RATED(WARNING, WORK),
		RESTS(SENT, ON(ecn), ON(qdisc)),
		.title = "This host's own qdisc marks packets CE",
		.means = "The queue of this interface is longer than its algorithm intends, so it "
			 "marks packets as congestion experienced. The senders slow down.",
		.when = "at least {1} and {2} left with a mark that they did not have when they "
			"entered the qdisc",
		.remedy = "A higher rate for the shaper, or a faster link: the marks report "
			  "congestion, they are not its cause.",
		.symptom = "TCP with ECN sends more slowly than the link allows",
		.limits = { &marks, &hundredth },
		.follows = { "qdisc-wait" },
	},
	[MARKED] = {
		.id = "ecn-marked", RATED(WARNING, WORK),
		RESTS(RECEIVED, ON(ecn), ON(ecn_source)),
		.title = "Packets arrive marked CE",
		.means = "A router or switch on their path had a long queue and marked them as "
			 "congestion experienced. This host notifies the senders, and they slow "
			 "down.",
		.when = "at least {1} and {2} arrived marked",
		.silent = "Marks below that share, which AQM sets on any busy link.",
		.remedy = "nicprobe show IFACE ecn_source lists the senders: what do their paths "
			  "share? In a DCTCP network marks are intended.",
		.symptom = "TCP with ECN receives more slowly than the link allows",
		.limits = { &marks, &hundredth },
	},
};

static bool is_one_of(const char *kind_, const char *const *list)
{
	while (*list && strcmp(kind_, *list))
		list++;
	return *list;
}

/* These hold packets back because they were configured to. */
static bool delays_on_purpose(const char *qdisc)
{
	return is_one_of(qdisc, (const char *const []){ "fq", "netem", "etf", "taprio", NULL });
}

static void advise_wait(struct evidence *e, struct finding *f, const char *qdisc)
{
	static const char *const shapers[] = { "tbf", "htb", "hfsc", "cbq", "cbs", "cake", NULL };
	static const char *const fifos[] = { "pfifo_fast", "pfifo", "bfifo", "noqueue", NULL };
	const char *dev = e->s->meta.iface;

	if (is_one_of(qdisc, shapers))
		finding_advise(f, "more is sent than its rate allows: tc -s qdisc show dev %s; "
			       "raise the rate, or lower the limit",
			       dev);
	else if (is_one_of(qdisc, fifos))
		finding_advise(f, "let short flows overtake long ones: tc qdisc replace dev %s %s "
			       "fq_codel",
			       dev, e->s->meta.tx_queues > 1 ? "parent MQ:QUEUE" : "root");
	else
		finding_advise(f, "tc -s qdisc show dev %s", dev);
}

static void judge_wait(struct evidence *e)
{
	const struct metric *k = metric_of(&meter_qdisc, "wait");
	const struct qdisc_key *at = NULL;
	double worst = 0, driver;
	uint64_t waited = 0;
	unsigned late = 0;
	struct finding *f;

	for_each_row(r, e, METER_qdisc) {
		const uint64_t *w = r.words + k->at;
		const struct qdisc_key *key = r.key;
		double p50;

		if (!worth(e, hist_count(k, w), enough.value) || delays_on_purpose(key->kind))
			continue;
		p50 = hist_percentile(k, w, .5);
		driver = completion_median(e, key->queue);
		if (p50 < (isnan(driver) ? alone.value : slow.value) || p50 < times.value * driver)
			continue;
		late++;
		waited += hist_count(k, w);
		if (p50 > worst) {
			worst = p50;
			at = key;
		}
	}
	if (!late)
		return;
	driver = completion_median(e, at->queue);
	f = finding_add(e->f, &kinds[WAIT], at->queue,
			"packets of queue %u%s wait %s (median) in the qdisc %.16s%s",
			at->queue, late > 1 ? text(" and of %u more", late - 1) : "",
			finding_time(worst), at->kind, isnan(driver) ? "" :
			text(", %.0f times as long as in the driver and the card (%s)",
			     worst / driver,
			     finding_time(driver)));
	finding_harm(f, worst);
	finding_strikes(f, rate(e, waited));
	finding_fact(f, "wait", worst, "seconds");
	if (!isnan(driver))
		finding_fact(f, "completion", driver, "seconds");
	advise_wait(e, f, at->kind);
}

/* The same from the meter skblife, if qdisc is off: the mean over all queues. */
static void judge_lives(struct evidence *e)
{
	const struct metric *k = metric_of(&meter_skblife, "time");
	struct finding *f;
	uint64_t nr = 0;
	double time = 0;

	for_each_row(r, e, METER_skblife) {
		const struct skblife_key *key = r.key;
		const uint64_t *w = r.words + k->at;

		if (key->stage != LIFE_QDISC)
			continue;
		nr += hist_count(k, w);
		time += w[0] * 1e-9;
	}
	if (has(e, METER_qdisc) || !worth(e, nr, enough.value) || time < alone.value * nr)
		return;
	f = finding_add(e->f, &kinds[WAIT], -1, "packets wait %s (mean) in the qdisc",
			finding_time(time / nr));
	finding_harm(f, time / nr);
	finding_strikes(f, rate(e, nr));
	finding_fact(f, "wait", time / nr, "seconds");
	finding_advise(f, "it limits the rate, or the link is full: tc -s qdisc show dev %s; a "
		       "shorter queue: tc qdisc replace dev %s root fq_codel",
		       e->s->meta.iface,
		       e->s->meta.iface);
}

/* Drops that `tc -s` counts: the largest count, since a qdisc includes its children. */
static uint64_t dropped_by_tc(const struct evidence *e, char *name, size_t size)
{
	uint64_t most = 0;

	*name = '\0';
	for_each_row(r, e, METER_counters) {
		const struct counters_key *key = r.key;

		if (strcmp(key->source, "tc -s") || strcmp(key->who, "qdisc") || *r.words <= most)
			continue;
		most = *r.words;
		snprintf(name, size, "%.*s", (int)strcspn(key->counter, " "), key->counter);
	}
	return most;
}

/* Drops that the meter qdisc counts, and the kind that dropped most. */
static uint64_t dropped_by_meter(const struct evidence *e, char *name, size_t size)
{
	uint64_t n = 0, most = 0;

	for_each_row(r, e, METER_qdisc) {
		uint64_t here = ((const struct qdisc *)r.words)->dropped[QDISC_DROPPED];
		const struct qdisc_key *key = r.key;

		n += here;
		if (here <= most)
			continue;
		most = here;
		snprintf(name, size, "%.16s", key->kind);
	}
	return n;
}

/* " packets, 21.5% of what was to be sent"; tc counts buffers, which GSO splits into packets. */
static const char *of_what(uint64_t n, uint64_t buffers, bool of_buffers, double share)
{
	const char *part = share > 0 ? text(", %.1f%% of what was to be sent", 100 * share) : "";

	if (of_buffers)
		return text(" buffers of one or several packets%s", part);
	if (buffers && buffers != n)
		return text(" packets%s, in %" PRIu64 " buffers, which tc counts", part, buffers);
	return text(" packets%s", part);
}

static void judge_drops(struct evidence *e)
{
	uint64_t buffers = 0, sent, all;
	uint64_t n = dropped_by(e, "qdisc", &buffers);
	bool by_drop = n, of_buffers;
	const char *dev = e->s->meta.iface;
	char qdisc[40];
	uint64_t by_tc = dropped_by_tc(e, qdisc, sizeof(qdisc));
	struct finding *f;

	if (!n) {
		n = has(e, METER_drop) ? 0 : by_tc;
		n = n ?: dropped_by_meter(e, qdisc, sizeof(qdisc));
	}
	if (!worth(e, n, few.value))
		return;
	sent = sent_packets(e);
	all = sent_buffers(e, &of_buffers);
	of_buffers &= !by_drop;
	if (!of_buffers)
		all = n + sent;
	if (n < thousandth.value * all)
		return;
	f = finding_add(e->f, &kinds[DROPS], -1, "the qdisc%s%s dropped %" PRIu64 "%s",
			*qdisc ? " " : "", qdisc, n,
			of_what(n, buffers, of_buffers, sent ? (double)n / all : 0));
	finding_counted(e, f, n, "dropped", of_buffers ? "buffers" : "packets");
	if (buffers)
		finding_fact(f, "buffers", buffers, "buffers");
	if (sent)
		finding_fact(f, "share", (double)n / all, "ratio");
	if (!strcmp(qdisc, "pfifo_fast") && sent && n * 10 < all)
		finding_advise(f, "a longer queue, if it only fills in bursts: ip link set dev %s "
			       "txqueuelen 10000; otherwise send less: tc -s qdisc show dev %s",
			       dev,
			       dev);
	else
		finding_advise(f, "check its limit and rate: tc -s qdisc show dev %s; a shaper may "
			       "drop intentionally",
			       dev);
}

static uint64_t marked(const struct evidence *e, enum point point, uint64_t *capable)
{
	uint64_t ce = 0;

	*capable = 0;
	for_each_row(r, e, METER_ecn) {
		const struct ecn *ecn = (const void *)r.words;

		if (row_place(e, &r).point != point)
			continue;
		ce += ecn->packets[ECN_CE];
		*capable += ecn->packets[ECN_CE] + ecn->packets[ECN_ECT0] + ecn->packets[ECN_ECT1];
	}
	return ce;
}

/* " (fq_codel)"; shapers and schedulers mark nothing themselves, but a child may. */
static const char *who_marks(const struct evidence *e)
{
	static const char *const nobody[] = { "tbf", "htb", "hfsc", "prio", "drr", "ets", "qfq",
					      "mqprio", "taprio", "etf", "pfifo", "pfifo_fast",
					      NULL };
	struct meter_row first = { .id = METER_qdisc };
	const struct qdisc_key *key;

	if (!row_next(e, &first))
		return "";
	key = first.key;
	return text(is_one_of(key->kind, nobody) ? " (one below %.16s)" : " (%.16s)", key->kind);
}

static void judge_marked_here(struct evidence *e)
{
	uint64_t capable, before = marked(e, TX_STACK, &capable), after = marked(e, TX_NIC,
										 &capable), n;
	struct finding *f;

	n = after > before ? after - before : 0;
	if (!*e->s->meta.hook[TX_STACK] || !*e->s->meta.hook[TX_NIC] || !worth(e, n, marks.value) ||
	    n < hundredth.value * capable)
		return;
	f = finding_add(e->f, &kinds[MARKED_HERE], -1,
			"this host's own qdisc%s marked %" PRIu64 " packets CE, %.1f%% of the "
			"ECN-capable",
			who_marks(e), n,
			100.0 * n / capable);
	finding_counted(e, f, n, "marked", "packets");
	finding_fact(f, "share", (double)n / capable, "ratio");
	finding_advise(f, "its queue is longer than intended: raise the rate, or send less: tc -s "
		       "qdisc show dev %s",
		       e->s->meta.iface);
}

/* ", 93% of them from 10.9.8.2" */
static const char *from(const struct evidence *e, uint64_t ce)
{
	struct meter_row most = { .id = METER_ecn_source };	/* sorted: the first */
	char name[64];

	if (!row_next(e, &most) || *most.words > ce)
		return "";
	meter_ecn_source.key.text(most.key, 0, name, sizeof(name));
	return text(", %.0f%% of them from %s", 100.0 * *most.words / ce, name);
}

static void judge_marked(struct evidence *e)
{
	uint64_t capable, n = marked(e, RX_NIC, &capable);
	struct finding *f;

	if (!worth(e, n, marks.value) || n < hundredth.value * capable)
		return;
	f = finding_add(e->f, &kinds[MARKED], -1,
			"%.1f%% of the ECN-capable packets arrived marked CE%s: a queue on their "
			"path is congested",
			100.0 * n / capable,
			from(e, n));
	finding_counted(e, f, n, "marked", "packets");
	finding_fact(f, "share", (double)n / capable, "ratio");
	finding_advise(f, "who sends them: nicprobe show %s ecn_source", e->s->name);
}

static void judge(struct evidence *e)
{
	judge_wait(e);
	judge_lives(e);
	judge_drops(e);
	if (!has(e, METER_ecn))
		return;
	judge_marked_here(e);
	judge_marked(e);
}

DEFINE_SUBJECT(qdisc, "Queueing: waits, drops, marks")
