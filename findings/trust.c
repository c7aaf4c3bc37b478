/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about gaps in nicprobe's own figures. */
#include <inttypes.h>

#include "bpf/driver/driver.h"
#include "bpf/qdisc/qdisc.h"
#include "bpf/skblife/skblife.h"
#include "bpf/txlat/txlat.h"
#include "findings/subjects.h"

enum { TABLE_FULL, NOT_TIMED, MODULE_GONE };

static const struct limit few = { 100, "100 packets" };
static const struct limit some = { 10, "10 packets or more" };
static const struct limit share = { .001, "a thousandth of the packets" };

static const struct finding_kind kinds[] = {
	[TABLE_FULL] = {
		.id = "table-full", RATED(INFO, BLIND),
		RESTS(SENT, 0, ON(txlat) | ON(qdisc) | ON(skblife)),
		.title = "Packets could not be followed because a table of nicprobe is full",
		.means = "A latency meter keeps an entry for each packet until it is done. More "
			 "packets were under way than the table holds, so the figures cover only "
			 "some of them.",
		.when = "at least {1} and {2} were not followed (meters txlat, qdisc, skblife)",
		.remedy = "Reattach: the tables are sized by the rings and queues at attach time; "
			  "or use --sample 16.",
		.symptom = "A latency histogram has fewer packets than were sent",
		.limits = { &few, &share },
	},
	[NOT_TIMED] = {
		.id = "qdisc-splits", RATED(INFO, BLIND),
		RESTS(SENT, ON(qdisc), 0),
		.title = "The qdisc splits large packets, so their wait is unknown",
		.means = "tbf and cake split large buffers into new packets, which nicprobe cannot "
			 "match with the originals.",
		.when = "{1}, and more than could be timed, were split by the qdisc (meter qdisc)",
		.remedy = "While measuring: ethtool -K IFACE tso off gso off",
		.symptom = "The meter qdisc has few samples",
		.limits = { &some },
	},
	[MODULE_GONE] = {
		.id = "driver-module-gone", RATED(INFO, BLIND),
		RESTS(ALWAYS, ON(driver), 0),
		.title = "The module whose functions were counted was unloaded",
		.means = "Its functions are no longer counted, even after the module is loaded "
			 "again.",
		.when = "the module of a function of the meter driver was unloaded or reloaded",
		.remedy = "nicprobe detach; nicprobe attach -m driver",
		.symptom = "The meter driver stands still",
	},
};

static void tell_full(struct evidence *e, const char *meter, uint64_t full, uint64_t timed)
{
	struct finding *f;

	if (!worth(e, full, few.value) || full < share.value * (full + timed))
		return;
	f = finding_add(e->f, &kinds[TABLE_FULL], -1,
			"%s could not follow %" PRIu64 " packets: more were under way than its "
			"table holds",
			meter, full);
	finding_packets(e, f, full);
	finding_advise(f, "reattach to size the tables for the current rings; or nicprobe attach "
		       "%s -m %s --sample 16",
		       e->s->name, meter);
}

static void judge_tables(struct evidence *e)
{
	const struct metric *completion = metric_of(&meter_txlat, "completion");
	const struct metric *wait = metric_of(&meter_qdisc, "wait");
	uint64_t full[3] = {}, timed[3] = {}, split = 0;
	struct finding *f;

	for_each_row(r, e, METER_txlat) {
		const struct txlat *x = (const void *)r.words;

		full[0] += x->lost[TXLAT_FULL];
		timed[0] += hist_count(completion, words_at(&x->completion.sum));
	}
	for_each_row(r, e, METER_qdisc) {
		const struct qdisc *q = (const void *)r.words;

		full[1] += q->lost[QDISC_FULL];
		split += q->lost[QDISC_SEGMENTED];
		timed[1] += hist_count(wait, words_at(&q->wait.sum));
	}
	for_each_row(r, e, METER_skblife) {
		const struct skblife *l = (const void *)r.words;

		full[2] += l->lost[LIFE_FULL];
		timed[2] += l->came;
	}
	tell_full(e, "txlat", full[0], timed[0]);
	tell_full(e, "qdisc", full[1], timed[1]);
	tell_full(e, "skblife", full[2], timed[2]);
	if (!worth(e, split, some.value) || split <= timed[1])
		return;
	f = finding_add(e->f, &kinds[NOT_TIMED], -1,
			"%" PRIu64 " packets were not timed: the qdisc itself splits large ones",
			split);
	finding_harm(f, rate(e, split));
	finding_advise(f, "while measuring: ethtool -K %s tso off gso off", e->s->meta.iface);
}

static void judge_modules(struct evidence *e)
{
	struct finding *f;

	for_each_row(r, e, METER_driver) {
		const char *module = driver_row_gone(r.key);

		if (!module)
			continue;
		f = finding_add(e->f, &kinds[MODULE_GONE], -1,
				"the module %s was unloaded after attach, and its functions are no "
				"longer counted",
				module);
		finding_harm(f, rate(e, received(e, -1, -1) + sent_packets(e)));
		finding_fix(f, "nicprobe", "detach", e->s->name);
		finding_fix(f, "nicprobe", "attach", e->s->name, "-m", "driver");
		return;
	}
}

static void judge(struct evidence *e)
{
	judge_tables(e);
	judge_modules(e);
}

DEFINE_SUBJECT(trust, "Trust: gaps in nicprobe's own figures")
