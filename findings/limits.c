/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about byte queue limits: too small for the card, too large for latency, stalls. */
#include <inttypes.h>
#include <math.h>

#include "findings/sending.h"
#include "findings/subjects.h"
#include "lib/util/log.h"

enum { BQL_SMALL, BQL_LARGE, BQL_STALLS };

static const struct limit one = { 1, "one" };
static const struct limit starved = { .1, "a tenth of its stops" };
static const struct limit stops = { 50, "50 stops" };
static const struct limit much = { 65536, "64 KB" };
static const struct limit slow = { 4e-3, "4 ms" };

static const struct finding_kind kinds[] = {
	[BQL_SMALL] = {
		.id = "bql-limit-small", RATED(WARNING, WAIT),
		RESTS(SENT, ON(bql), 0),
		.title = "The byte limit of a transmit queue lets the card run dry",
		.means = "Byte Queue Limits stop a queue once the card holds a certain number of "
			 "bytes. The card had sent all of them before it was given more, while "
			 "packets waited: the limit is too low for the link. BQL raises it "
			 "automatically, but not above limit_max.",
		.when = "a queue has {1} by BQL or more, and {2} lasted until nothing was in "
			"flight",
		.remedy = "echo BYTES > "
			  "/sys/class/net/IFACE/queues/tx-N/byte_queue_limits/limit_max",
		.symptom = "The send rate stays below the rate of the link",
		.limits = { &stops, &starved },
	},
	[BQL_LARGE] = {
		.id = "bql-limit-large", RATED(WARNING, WAIT),
		RESTS(SENT, ON(bql) | ON(txlat), 0),
		.title = "The byte limit of a transmit queue is huge",
		.means = "The driver holds more bytes than the link sends in milliseconds. Nothing "
			 "can overtake them: the order and fairness of the qdisc end where the "
			 "driver begins.",
		.when = "the driver holds {1} or more (median), they take {2} or more to complete, "
			"and moderation does not explain it",
		.remedy = "A lower limit_max, so that the bytes in flight take about a "
			  "millisecond.",
		.symptom = "Short flows are slow beside a large transfer",
		.limits = { &much, &slow },
	},
	[BQL_STALLS] = {
		.id = "tx-stalls", RATED(WARNING, WAIT),
		RESTS(SENT, ON(bql), 0),
		.title = "Transmit completions stalled",
		.means = "The kernel's own stall detector found that a queue completed nothing for "
			 "longer than its threshold (stall_thrs).",
		.when = "at least {1} stall occurred in the window",
		.remedy = "Does its interrupt come late? nicprobe show IFACE irq; ethtool -c "
			  "IFACE.",
		.symptom = "Latency spikes while sending",
		.limits = { &one },
	},
};

const struct bql *bql_of(const struct evidence *e, unsigned queue)
{
	const struct table *t = &e->s->tables[METER_bql];

	return has(e, METER_bql) && queue < t->rows && !cell_idle(t, queue, 0) ?
	       (const void *)row_words(t, queue, 0) : NULL;
}

#define LIMIT_FILE "queues/tx-%u/byte_queue_limits/%s"

static void fix_limit(struct evidence *e, struct finding *f, unsigned queue, double bytes)
{
	finding_fix(f, "sh", "-c", text("echo %.0f > /sys/class/net/%s/" LIMIT_FILE, bytes,
					e->s->meta.iface,
					queue, "limit_max"));
	finding_changes(f, "the driver gets at most %.0f kB at once", bytes / 1000);
}

static void judge_small(struct evidence *e, unsigned queue)
{
	const struct metric *k = metric_of(&meter_bql, "in_flight");
	const struct bql *b = bql_of(e, queue);
	uint64_t n = hist_count(metric_of(&meter_bql, "stopped_by_bql"), words_at(&b->by_bql.sum));
	double most = hist_max(k, words_at(&b->in_flight.sum)), mean = n ?
		b->by_bql.sum * 1e-9 / n : 0;
	struct finding *f;

	if (!worth(e, n, stops.value) || b->starved < starved.value * n)
		return;
	f = finding_add(e->f, &kinds[BQL_SMALL], queue,
			"the byte limit of queue %u is too small: packets waited, and in %" PRIu64
			" of %" PRIu64 " stops by BQL the card, given %.0f kB at most, ran dry",
			queue, (uint64_t)b->starved, n,
			most / 1000);
	finding_harm(f, mean);
	finding_strikes(f, rate(e, n));
	finding_fact(f, "stops", n, "stops");
	finding_fact(f, "starved", b->starved, "stops");
	fix_limit(e, f, queue, 4 * most);
}

static void judge_large(struct evidence *e, unsigned queue)
{
	const struct metric *k = metric_of(&meter_bql, "in_flight");
	const struct bql *b = bql_of(e, queue);
	double bytes = hist_percentile(k, words_at(&b->in_flight.sum), .5),
		took = completion_median(e, queue);
	struct finding *f;

	if (isnan(bytes) || bytes < much.value || isnan(took) || took < slow.value ||
	    moderation(e).usecs * 2e-6 >= took)
		return;
	f = finding_add(e->f, &kinds[BQL_LARGE], queue,
			"the byte limit of queue %u is huge: the driver holds %.0f kB, which take "
			"%s to send and cannot be overtaken",
			queue,
			bytes / 1000,
			finding_time(took));
	finding_harm(f, took);
	finding_strikes(f, rate(e, completed_of(e, queue)));
	finding_fact(f, "in_flight", bytes, "bytes");
	fix_limit(e, f, queue, bytes * 1e-3 / took);
}

static void judge_stalls(struct evidence *e, unsigned queue)
{
	const struct bql *b = bql_of(e, queue);
	struct finding *f;

	if (!worth(e, b->stalls, one.value))
		return;
	f = finding_add(e->f, &kinds[BQL_STALLS], queue,
			"completions of queue %u stalled %" PRIu64 " time%s for longer than its "
			"stall_thrs",
			queue, (uint64_t)b->stalls, b->stalls == 1 ? "" : "s");
	finding_strikes(f, rate(e, b->came ?: b->stalls));	/* the kernel tells no time */
	finding_fact(f, "stalls", b->stalls, "stalls");
	finding_advise(f, "the longest stall: cat /sys/class/net/%s/" LIMIT_FILE "; does its "
		       "interrupt come late? ethtool -c %s",
		       e->s->meta.iface, queue, "stall_max",
		       e->s->meta.iface);
}

static void judge(struct evidence *e)
{
	for (unsigned queue = 0; queue < e->s->meta.tx_queues; queue++) {
		if (!bql_of(e, queue))
			continue;
		judge_small(e, queue);
		judge_large(e, queue);
		judge_stalls(e, queue);
	}
}

DEFINE_SUBJECT(limits, "Byte queue limits")
