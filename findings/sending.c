/* SPDX-License-Identifier: GPL-2.0 */
/* Findings from the driver to the wire: rings, completions, stuck queues, XPS. */
#include <inttypes.h>
#include <math.h>

#include "bpf/bql/bql.h"
#include "bpf/txlat/txlat.h"
#include "findings/sending.h"
#include "findings/settings.h"
#include "findings/subjects.h"
#include "lib/core/nic_driver.h"
#include "lib/hw/hw.h"
#include "lib/read/thinned.h"
#include "lib/util/log.h"

enum {
	QUEUE_STUCK, TIMEOUTS, XPS_ONE_QUEUE, RING_FULL, COMPLETION_SLOW,
};

static const struct limit few = { 10, "10 packets" };
static const struct limit one = { 1, "one" };
static const struct limit enough = { 100, "100 packets" };
static const struct limit stood = { .01, "a hundredth of the time" };
static const struct limit held = { 250e-6, "250 us" };
static const struct limit late = { 2e-3, "2 ms" };
static const struct limit one_sided = { .9, "90%" };

static const struct finding_kind kinds[] = {
	[QUEUE_STUCK] = {
		.id = "tx-queue-stuck", RATED(CRITICAL, LOSS),
		RESTS(SENT, ON(txlat), ON(bql) | ON(drop)),
		.title = "A transmit queue is stuck",
		.means = "The driver holds packets of this queue and completed none of them in the "
			 "whole window. Further packets for the queue wait behind them or are "
			 "dropped.",
		.when = "{1} or more are in flight and packets are waiting or dropped, or {1} or "
			"more found its ring full; and the queue completed none in a window of at "
			"least half a second",
		.remedy = "The other side does not accept them: the card hangs (dmesg, ethtool -S; "
			  "link down and up resets it), the switch sends pause frames, or, for a "
			  "tap, the program does not read.",
		.symptom = "Some connections stand still, others do not",
		.limits = { &few },
	},
	[TIMEOUTS] = {
		.id = "tx-timeout", RATED(CRITICAL, LOSS),
		RESTS(SENT, ON(hwstat), 0),
		.title = "The driver gave up waiting for a completion",
		.means = "Nothing completed for seconds (NETDEV WATCHDOG). The driver resets the "
			 "queue or the card, and packets in its rings are lost. For ena also: "
			 "single packets did not complete within 5 seconds while others did. ena "
			 "counts each of them again every second, and resets the card when there "
			 "are many.",
		.when = "at least {1} timeout occurred in the window (tx_timeouts, tx_missed)",
		.remedy = "dmesg names the queue; try a newer driver or firmware: ethtool -i "
			  "IFACE.",
		.symptom = "The network stands still for seconds",
		.limits = { &one },
	},
	[XPS_ONE_QUEUE] = {
		.id = "xps-one-queue", RATED(WARNING, RISK),
		RESTS(SENT, SETUP, ON(bql) | ON(drop) | ON(txlat)),
		.title = "XPS sends everything through one transmit queue",
		.means = "Transmit Packet Steering selects the queue by the sending CPU. The masks "
			 "in xps_cpus map all CPUs to one queue, which is full or stopped while "
			 "the others are empty.",
		.when = "the masks map all CPUs to one queue, that queue carries {2} of the "
			"packets, and its ring is full or it was stopped for {1}",
		.remedy = "One queue per CPU, or no XPS: echo 0 > "
			  "/sys/class/net/IFACE/queues/tx-N/xps_cpus.",
		.symptom = "Sending is slow, with one transmit queue full and the others empty",
		.limits = { &stood, &one_sided },
	},
	[RING_FULL] = {
		.id = "tx-ring-full", RATED(CRITICAL, LOSS),
		RESTS(SENT, 0, ON(bql) | ON(drop) | ON(txlat)),
		.title = "The transmit ring is full, and packets wait or are dropped",
		.means = "The driver had no room for a packet. It dropped the packet, or stopped "
			 "the queue until there was room; packets then wait in the qdisc, which "
			 "drops them when it is full.",
		.when = "at least {1} found no room (FULL_RING, or freed by the driver unsent), or "
			"the driver stopped a queue for {2} while packets waited",
		.remedy = "A longer ring absorbs bursts (ethtool -G IFACE tx N; for a tap: "
			  "txqueuelen). If more is sent than the link or the other end accepts, no "
			  "ring is long enough.",
		.symptom = "Sent packets are lost or late",
		.limits = { &few, &stood },
		.follows = { "tx-queue-stuck", "xps-one-queue", "tx-completion-slow" },
	},
	[COMPLETION_SLOW] = {
		.id = "tx-completion-slow", RATED(WARNING, WAIT),
		RESTS(SENT, ON(txlat), 0),
		.title = "Transmit completions come late",
		.means = "Until a packet completes, its memory is held, and TCP (small queues) and "
			 "BQL count it as unsent and send less. Interrupt moderation delays "
			 "completions, or the interrupt comes late, or the link is full.",
		.when = "half of the completions of a queue, of {1} or more, take {2} or more, at "
			"least half of which is due to moderation, or {3} or more for any other "
			"reason",
		.remedy = "Less moderation: ethtool -C IFACE tx-usecs 50; a shorter ring if the "
			  "link is full.",
		.symptom = "A single TCP connection does not reach the rate of the link",
		.limits = { &enough, &held, &late },
		.follows = { "tx-queue-stuck", "bql-limit-small", "bql-limit-large" },
	},
};

static const struct txlat *flight(const struct evidence *e, unsigned queue)
{
	const struct table *t = &e->s->tables[METER_txlat];

	return has(e, METER_txlat) && queue < t->rows ?
	       (const void *)row_words(t, queue, 0) : NULL;
}

static uint64_t in_flight(const struct txlat *x)
{
	return x->came > x->went ? x->came - x->went : 0;
}

static uint64_t completed(const struct txlat *x)
{
	return hist_count(metric_of(&meter_txlat, "completion"), words_at(&x->completion.sum));
}

double completion_median(const struct evidence *e, unsigned queue)
{
	const struct txlat *x = flight(e, queue);

	return x ? hist_percentile(metric_of(&meter_txlat, "completion"),
				   words_at(&x->completion.sum), .5) : NAN;
}

uint64_t completed_of(const struct evidence *e, unsigned queue)
{
	const struct txlat *x = flight(e, queue);

	return x ? completed(x) : 0;
}

/* What txlat counts are packets, or those packets that it followed. */
static const char *of_those(const struct evidence *e)
{
	return meter_has_all(e->s, METER_txlat) ? "" : "followed ";
}

/* Only in an interval: packets in flight now of which none completed in it. */
static bool judge_stuck(struct evidence *e, unsigned queue, uint64_t lost)
{
	const struct txlat *x = flight(e, queue);
	const struct bql *b = bql_of(e, queue);
	bool waits = b && b->came > b->went;
	/* it was full before anybody looked: what it holds was not seen to come */
	bool full = x && lost && x->lost[TXLAT_FREED_IN_XMIT] >= few.value;
	struct finding *f;

	if (!x || !e->s->interval || e->s->seconds < .5 || completed(x) ||
	    (in_flight(x) * meter_stands_for(e->s, METER_txlat) < few.value && !full) ||
	    !(waits || x->lost[TXLAT_FREED_IN_XMIT] || lost))
		return false;
	f = finding_add(e->f, &kinds[QUEUE_STUCK], queue,
			"transmit queue %u is stuck: the driver %s %" PRIu64 " %spackets, and "
			"completed none in %s", queue, in_flight(x) ? "holds" : "refused",
			in_flight(x) ?: (uint64_t)x->lost[TXLAT_FREED_IN_XMIT], of_those(e),
			finding_time(e->s->seconds));
	finding_harm(f, rate(e, x->lost[TXLAT_FREED_IN_XMIT]));
	finding_strikes(f, rate(e, in_flight(x) + x->lost[TXLAT_FREED_IN_XMIT]));
	finding_fact(f, "in_flight", in_flight(x), "packets");
	finding_fact(f, "lost", x->lost[TXLAT_FREED_IN_XMIT], "packets");
	finding_advise(f, "%s", is_hardware(e) ?
		       text("dmesg | grep -i -e watchdog -e %s; does the switch send pause frames? "
			    "ethtool -S %s; link down and up resets the card",
			    e->s->meta.iface,
			    e->s->meta.iface) :
		       "the program behind it does not read from that queue");
	return true;
}

static void judge_timeouts(struct evidence *e)
{
	int queue, other;
	uint64_t n = card_counted(e, "tx_timeouts", &queue);
	uint64_t missed = card_counted(e, "tx_missed", &other);
	const char *dev = e->s->meta.iface;
	struct finding *f;

	if (!worth(e, n + missed, one.value))
		return;
	f = finding_add(e->f, &kinds[TIMEOUTS], n ? queue : other,
			"%" PRIu64 " time%s the driver of %s %s", n ?: missed,
			(n ?: missed) == 1 ? "" : "s", dev, n ? "gave up waiting for a completion" :
			"found a packet that did not complete in time");
	finding_harm(f, rate(e, n + missed));
	finding_fact(f, "timeouts", n, "timeouts");
	finding_fact(f, "missed", missed, "times");
	finding_advise(f, "dmesg | grep -i -e %s -e watchdog; a newer driver or firmware: ethtool "
		       "-i %s",
		       dev, dev);
}

/* Packets that found no room: the larger of what drop and txlat counted. */
static uint64_t refused(const struct evidence *e)
{
	uint64_t n = dropped_for(e, "FULL_RING"), freed = 0;

	for (unsigned queue = 0; queue < e->s->meta.tx_queues; queue++)
		freed += flight(e, queue) ? flight(e, queue)->lost[TXLAT_FREED_IN_XMIT] : 0;
	return n > freed ? n : freed;
}

/* Seconds for which the driver stopped a queue while packets waited, and the worst queue. */
static double stopped(const struct evidence *e, int *worst)
{
	double most = 0;

	*worst = -1;
	for (unsigned queue = 0; queue < e->s->meta.tx_queues; queue++) {
		const struct bql *b = bql_of(e, queue);

		if (b && b->by_driver.sum * 1e-9 > most) {
			most = b->by_driver.sum * 1e-9;
			*worst = queue;
		}
	}
	return most;
}

/* Packets of a queue (-1: all): completed, in flight, or freed by the driver unsent. */
static uint64_t sent(const struct evidence *e, int queue)
{
	uint64_t n = 0;

	for (unsigned q = 0; q < e->s->meta.tx_queues; q++) {
		const struct txlat *x = flight(e, q);

		if (x && (queue < 0 || q == (unsigned)queue))
			n += completed(x) + in_flight(x) + x->lost[TXLAT_FREED_IN_XMIT];
	}
	return n;
}

/* The same of all queues, also of packets that txlat did not follow. */
static uint64_t given(const struct evidence *e)
{
	struct thinned t = thinned_of(e->s, METER_txlat);

	return meter_has_all(e->s, METER_txlat) ? sent(e, -1) : t.taken + t.passed;
}

/* The transmit queue to which XPS maps every CPU; -1: none. */
static int xps_queue(const struct hw *h)
{
	int queue = -1;

	for (unsigned i = 0; h && i < h->nr; i++)
		if (h->lines[i].tx >= 0 && cpus_count(&h->lines[i].xps)) {
			if (queue >= 0 || cpus_common(&h->lines[i].xps, &h->online) <
					  cpus_count(&h->online))
				return -1;
			queue = h->lines[i].tx;
		}
	return queue;
}

static void judge_xps(struct evidence *e, uint64_t lost, double stood_for)
{
	int queue = e->s->meta.tx_queues > 1 && e->s->online > 1 ? xps_queue(setup(e)) : -1;
	struct finding *f;

	if (queue < 0 || sent(e, queue) < one_sided.value * sent(e, -1))
		return;
	f = finding_add(e->f, &kinds[XPS_ONE_QUEUE], queue,
			"XPS maps all CPUs to transmit queue %d of %u, and that queue is full",
			queue, e->s->meta.tx_queues);
	finding_harm(f, 1);
	finding_strikes(f, rate(e, sent(e, queue)));
	finding_fact(f, "lost", lost, "packets");
	finding_fact(f, "stopped", stood_for, "seconds");
	finding_fix(f, "sh", "-c", text("for q in /sys/class/net/%s/queues/tx-*; do echo 0 > "
					"$q/xps_cpus; done", e->s->meta.iface));
	finding_changes(f, "flows are hashed over the %u transmit queues", e->s->meta.tx_queues);
}

static void judge_full(struct evidence *e)
{
	bool exact = dropped_for(e, "FULL_RING");	/* drop counts all, txlat perhaps not */
	uint64_t n = refused(e), all = (exact ? given(e) : sent(e, -1)) ?: n;
	int worst;
	double stood_for = stopped(e, &worst);
	bool waited = stood_for >= 10e-3 && stood_for >= stood.value * e->s->seconds;
	long long now, longer;
	struct finding *f;

	if (!worth(e, n, few.value))
		n = 0;
	if (!n && !waited)
		return;
	judge_xps(e, n, stood_for);
	longer = ring_longer(e, "tx", &now);
	if (n)
		f = finding_add(e->f, &kinds[RING_FULL], -1,
				"%" PRIu64 " %spackets (%.1f%%) found the transmit ring of %s full",
				n, exact ? "" : of_those(e), 100.0 * n / all, e->s->meta.iface);
	else
		f = finding_add(e->f, &kinds[RING_FULL], worst,
				"the driver stopped queue %d for %s in all while packets waited: "
				"its ring was full",
				worst,
				finding_time(stood_for));
	if (f && !n)
		f->severity = SEVERITY_WARNING;
	finding_counted(e, f, n, "lost", "packets");
	if (!n)
		finding_strikes(f, rate(e, given(e)));
	finding_fact(f, "stopped", stood_for, "seconds");
	/* A longer ring helps only against bursts. */
	if (n * 10 > all)
		finding_advise(f, "more is sent than the other end accepts: a longer ring would "
			       "only delay the loss; send less, or shape it: tc qdisc replace "
			       "dev %s root fq_codel",
			       e->s->meta.iface);
	else if (longer)
		finding_fix(f, "ethtool", "-G", e->s->meta.iface, "tx", text("%lld", longer));
	else if (setup(e) && !is_hardware(e) && setup(e)->iface.tx_ring)
		finding_fix(f, "ip", "link", "set", "dev", e->s->meta.iface, "txqueuelen",
			    text("%u", 4 * setup(e)->iface.tx_ring));
	else
		finding_advise(f, "does the other end keep up? ip -s link show dev %s",
			       e->s->meta.iface);
	finding_changes(f, "a ring four times as long, for bursts");
}

struct moderation moderation(struct evidence *e)
{
	long long usecs = coalesce_value(e, "tx-usecs"), frames = coalesce_value(e, "tx-frames");

	return (struct moderation){
		.usecs = usecs < 0 ? 0 : usecs,
		.frames = frames < 2 ? 0 : frames,	/* one frame is not moderation */
		.adaptive = coalesce_value(e, "adaptive-tx") > 0,
	};
}

static void judge_slow(struct evidence *e, unsigned queue)
{
	const struct txlat *x = flight(e, queue);
	const char *dev = e->s->meta.iface, *other = driver_find(e->s->meta.driver)->late;
	const char *name, *value;
	double took = x && worth(e, completed(x), enough.value) ? completion_median(e, queue) : NAN;
	struct moderation m;
	struct finding *f;
	bool by_card;

	if (isnan(took) || took < held.value)
		return;
	m = moderation(e);
	by_card = !other && (m.usecs ? m.usecs * 2e-6 >= took : m.frames);
	if (!by_card && took < late.value)
		return;
	f = finding_add(e->f, &kinds[COMPLETION_SLOW], queue,
			"completions of queue %u take %s (median)%s",
			queue, finding_time(took), !by_card ? "" : m.usecs ?
			text(": the card delays them by %lld us (tx-usecs)", m.usecs) :
			text(": the card delays them by %lld packets (tx-frames)", m.frames));
	finding_harm(f, took);
	finding_strikes(f, rate(e, completed(x)));
	finding_fact(f, "completion", took, "seconds");
	if (other) {
		finding_advise(f, "%s", other);
		return;
	}
	if (!by_card) {
		finding_advise(f, "does its interrupt come late? nicprobe show %s irq; is the link "
			       "full? a shorter ring: ethtool -G %s tx N",
			       e->s->name, dev);
		return;
	}
	name = m.usecs ? "tx-usecs" : "tx-frames";
	value = m.usecs ? "50" : text("%lld", m.frames < 8 ? 1 : m.frames / 4);
	if (m.adaptive)
		finding_fix(f, "ethtool", "-C", dev, "adaptive-tx", "off", name, value);
	else
		finding_fix(f, "ethtool", "-C", dev, name, value);
	finding_changes(f, "more interrupts, earlier completions");
}

static void judge(struct evidence *e)
{
	uint64_t lost = dropped_for(e, "FULL_RING");

	judge_timeouts(e);
	for (unsigned queue = 0; queue < e->s->meta.tx_queues; queue++)
		if (!judge_stuck(e, queue, lost))
			judge_slow(e, queue);
	judge_full(e);
}

DEFINE_SUBJECT(sending, "Sending: rings, completions, stuck queues")
