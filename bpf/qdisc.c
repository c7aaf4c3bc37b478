/* SPDX-License-Identifier: GPL-2.0 */
/* How the time in the qdisc is shown, and when packets wait there too long or are lost there. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../lib/log.h"
#include "../lib/snapshot.h"
#include "qdisc.h"
#include "qdisc.skel.h"

static const char *const dropped[NR_QDISC_DROPPED] = {
	[QDISC_DROPPED] = "by-qdisc",
	[QDISC_DROPPED_OTHER] = "otherwise",
};

static const char *const lost[NR_QDISC_LOST] = {
	[QDISC_FULL] = "table-full",
	[QDISC_SEGMENTED] = "split-by-qdisc",
	[QDISC_VANISHED] = "vanished",
};

enum { WAIT, WAITING, DROPPED, SEGMENTED, REFUSED, LOST };

static const struct metric metrics[] = {
	[WAIT] = HISTOGRAM(struct qdisc, wait, .name = "wait", .unit = "seconds", .scale = 1e-9,
		.help = "Time from the qdisc's door until the driver was handed the packet."),
	[WAITING] = LEVEL(struct qdisc, came, .name = "waiting", .unit = "packets",
		.help = "Packets that are in the qdisc now."),
	[DROPPED] = COUNTER(struct qdisc, dropped, .name = "dropped", .unit = "packets",
		.label = "by", .labels = dropped,
		.help = "Packets dropped by the qdisc, or otherwise before the driver had them."),
	[SEGMENTED] = COUNTER(struct qdisc, segmented, .name = "segmented", .unit = "packets",
		.help = "Buffers that were split in software (GSO) on their way to the driver."),
	[REFUSED] = COUNTER(struct qdisc, refused, .name = "refused", .unit = "packets",
		.help = "Hand-overs that the driver refused: the packet went back to the qdisc."),
	[LOST] = COUNTER(struct qdisc, lost, .name = "lost", .unit = "packets",
		.label = "cause", .labels = lost,
		.help = "Packets whose time could not be measured, by cause."),
	{}
};

static void key_text(const void *key, unsigned nr, char *text, size_t size)
{
	const struct qdisc_key *at = key;

	if (nr)
		snprintf(text, size, "%.16s", at->kind[0] ? at->kind : "unknown");
	else
		snprintf(text, size, "%u", at->queue);
}

static const struct qdisc_key *key_of(const struct table *t, unsigned row)
{
	return (const void *)(t->keys + (size_t)row * sizeof(struct qdisc_key));
}

static bool is_one_of(const char *kind, const char *const *list)
{
	while (*list && strcmp(kind, *list))
		list++;
	return *list;
}

/* They keep packets back because they were told to. */
static bool delays_on_purpose(const char *kind)
{
	return is_one_of(kind, (const char *const []){ "fq", "netem", "etf", "taprio", NULL });
}

/* What makes packets wait less in a qdisc of this kind. */
static const char *wait_less(const struct snapshot *s, const char *kind)
{
	static const char *const shapers[] = { "tbf", "htb", "hfsc", "cbq", "cbs", "cake", NULL };
	static const char *const fifos[] = { "pfifo_fast", "pfifo", "bfifo", "noqueue", NULL };
	const char *dev = s->meta.iface;

	if (is_one_of(kind, shapers))
		return text("its rate is less than what is sent: tc -s qdisc show dev %s; give it "
			    "more rate, or a lower limit", dev);
	if (is_one_of(kind, fifos))
		return text("short flows need not wait for long ones: tc qdisc replace dev %s %s "
			    "fq_codel", dev,
			    s->meta.tx_queues > 1 ? "parent MQ:QUEUE" : "root");
	return text("tc -s qdisc show dev %s", dev);
}

#define ENOUGH		100	/* fewer samples say nothing */
#define SLOW		1e-3	/* seconds in the qdisc worth a word beside the driver's… */
#define SLOW_ALONE	5e-3	/* …and where the driver's are not known */
#define TIMES		10	/* so much longer than with the driver */

/* The median time that the driver has a packet of this queue; NAN: not known. */
static double driver_time(const struct snapshot *s, unsigned queue)
{
	const struct table *t = &s->tables[METER_txlat];
	const struct metric *k = meter_txlat.metrics;

	return t->cells && queue < t->rows ? hist_percentile(k, cell(t, queue, 0, k), .5) : NAN;
}

static void judge_wait(const struct snapshot *s, struct findings *f)
{
	const struct table *t = &s->tables[METER_qdisc];
	double worst = 0, driver, p50;
	unsigned row, slow = 0, at = 0;

	for (row = 0; row < t->rows; row++) {
		const uint64_t *w = cell(t, row, 0, &metrics[WAIT]);

		driver = driver_time(s, key_of(t, row)->queue);
		p50 = hist_percentile(&metrics[WAIT], w, .5);
		if (hist_count(&metrics[WAIT], w) < ENOUGH ||
		    delays_on_purpose(key_of(t, row)->kind) ||
		    p50 < (isnan(driver) ? SLOW_ALONE : SLOW) || p50 < TIMES * driver)
			continue;
		slow++;
		if (p50 > worst) {
			worst = p50;
			at = row;
		}
	}
	if (!slow || !finding_about(f, ABOUT_QDISC_WAIT, "qdisc"))
		return;
	driver = driver_time(s, key_of(t, at)->queue);
	finding(f, "qdisc", wait_less(s, key_of(t, at)->kind),
		"packets of queue %u%s wait %s (median) in the qdisc %s%s", key_of(t, at)->queue,
		slow > 1 ? text(" and of %u more", slow - 1) : "", finding_time(worst),
		key_of(t, at)->kind,
		isnan(driver) ? "" : text(", %.0f times as long as in the driver and the card (%s)",
					  worst / driver, finding_time(driver)));
}

/* What to do about a qdisc of this kind that drops. */
static const char *drop_less(const struct snapshot *s, const char *kind)
{
	const char *dev = s->meta.iface;

	if (!strcmp(kind, "pfifo_fast"))
		return text("a longer queue if it only fills in bursts: ip link set dev %s "
			    "txqueuelen 10000; else send less: tc -s qdisc show dev %s", dev, dev);
	if (!strcmp(kind, "pfifo") || !strcmp(kind, "bfifo"))
		return text("a higher limit if it only fills in bursts: tc -s qdisc show dev %s, "
			    "tc qdisc replace dev %s … %s limit N", dev, dev, kind);
	return text("tc -s qdisc show dev %s: its limit, or its rate", dev);
}

static void judge_drops(const struct snapshot *s, struct findings *f)
{
	const struct table *t = &s->tables[METER_qdisc];
	uint64_t worst = 0, all = 0, drops = 0, n;
	unsigned at = 0;

	for (unsigned row = 0; row < t->rows; row++) {
		n = cell(t, row, 0, &metrics[DROPPED])[QDISC_DROPPED];
		drops += n;
		all += n + hist_count(&metrics[WAIT], cell(t, row, 0, &metrics[WAIT])) *
			   meter_sample(&meter_qdisc, &s->meta);
		if (n > worst) {
			worst = n;
			at = row;
		}
	}
	if (drops * 1000 >= all && drops && finding_about(f, ABOUT_QDISC_DROPS, "qdisc"))
		finding(f, "qdisc", drop_less(s, key_of(t, at)->kind),
			"the qdisc dropped %" PRIu64 " packets, %.1f%% of what was sent, most "
			"(%" PRIu64 ") in the %s of queue %u", drops, 100.0 * drops / all, worst,
			key_of(t, at)->kind, key_of(t, at)->queue);
}

/* Wire packets marked CE at a point, and those that could be; the meter ecn has the figures. */
static uint64_t marked(const struct snapshot *s, enum point point, uint64_t *capable)
{
	const struct metric *k = meter_ecn.metrics;
	const struct table *t = &s->tables[METER_ecn];
	uint64_t ce = 0;

	*capable = 0;
	for (unsigned row = 0; row < t->rows; row++)
		for (unsigned i = 0; i < k->words; i++) {
			uint64_t n = cell(t, row, 0, k)[i];

			if (place_of(s, &meter_ecn, row).point != point)
				continue;
			ce += strcmp(k->labels[i], "ce") ? 0 : n;
			*capable += is_one_of(k->labels[i], (const char *const []){
				"ce", "ect0", "ect1", NULL }) ? n : 0;
		}
	return ce;
}

/* Marked between the qdisc's door and the driver: by the qdisc. */
static void judge_marks(const struct snapshot *s, struct findings *f)
{
	const struct table *t = &s->tables[METER_qdisc];
	uint64_t before, after, capable;

	if (!s->tables[METER_ecn].cells || !t->rows ||
	    !s->meta.tap[TX_STACK][0] || !s->meta.tap[TX_NIC][0])
		return;
	before = marked(s, TX_STACK, &capable);
	after = marked(s, TX_NIC, &capable);
	if (after <= before || (after - before) * 100 < capable)
		return;
	finding(f, "qdisc", text("its queue is longer than it is to be: tc -s qdisc show dev %s",
				 s->meta.iface),
		"this host's own qdisc (%s) marked %" PRIu64 " packets CE, %.1f%% of the "
		"ECN-capable", key_of(t, 0)->kind, after - before,
		100.0 * (after - before) / capable);
}

/* What was not timed biases the rest: say so. */
static void judge_lost(const struct snapshot *s, struct findings *f)
{
	const struct table *t = &s->tables[METER_qdisc];
	uint64_t full = 0, split = 0, timed = 0;

	for (unsigned row = 0; row < t->rows; row++) {
		full += cell(t, row, 0, &metrics[LOST])[QDISC_FULL];
		split += cell(t, row, 0, &metrics[LOST])[QDISC_SEGMENTED];
		timed += hist_count(&metrics[WAIT], cell(t, row, 0, &metrics[WAIT]));
	}
	if (full)
		finding(f, "qdisc", text("nicprobe attach %s -m qdisc --sample 16", s->name),
			"%" PRIu64 " packets were not timed: more were waiting than there is room "
			"for", full);
	if (split > timed)
		finding(f, "qdisc", text("while measuring: ethtool -K %s tso off gso off",
					 s->meta.iface),
			"%" PRIu64 " packets were not timed: the qdisc itself splits large ones",
			split);
}

static void judge(const struct snapshot *s, struct findings *f)
{
	judge_wait(s, f);
	judge_drops(s, f);
	judge_marks(s, f);
	judge_lost(s, f);
}

const struct meter meter_qdisc = {
	.name = "qdisc",
	.help = "how long packets wait in the qdisc, by TX queue and kind of qdisc",
	.by = BY_KEY,
	.point = TX_STACK,
	.row_size = sizeof(struct qdisc),
	.metrics = metrics,
	.key_size = sizeof(struct qdisc_key),
	.keys_per_queue = QDISC_KINDS,
	.key_labels = (const char *const []){ "queue", "qdisc", NULL },
	.key_text = key_text,
	.elf = qdisc_bpf__elf_bytes,
	.on_request = "a clock read and a table cost each packet that is sent about 0.25 us",
	.judge = judge,
};
