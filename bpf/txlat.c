/* SPDX-License-Identifier: GPL-2.0 */
/* How the time to completion is shown, where it cannot be had, and when it is not well. */
#include <inttypes.h>
#include <math.h>

#include "../lib/log.h"
#include "../lib/snapshot.h"
#include "../lib/tap.h"
#include "txlat.h"
#include "txlat.skel.h"

static const char *const causes[NR_TXLAT_LOST] = {
	[TXLAT_FULL] = "table-full",
	[TXLAT_FREED_IN_XMIT] = "freed-in-xmit",
	[TXLAT_MOVED] = "other-device",
	[TXLAT_NEVER_FREED] = "never-freed",
};

static const struct metric metrics[] = {
	HISTOGRAM(struct txlat, completion, .name = "completion", .unit = "seconds", .scale = 1e-9,
		  .help = "Time from the hand-over to the driver until it freed the packet."),
	LEVEL(struct txlat, came, .name = "in_flight", .unit = "packets",
	      .help = "Packets that the driver has now and has not completed."),
	COUNTER(struct txlat, retried, .name = "retried", .unit = "packets",
		.help = "Hand-overs that the driver refused: the packet came again."),
	COUNTER(struct txlat, lost, .name = "lost", .unit = "packets",
		.label = "cause", .labels = causes,
		.help = "Packets whose time could not be measured, by cause."),
	{}
};

static const char *absent(const struct site *site)
{
	return site->driver->no_completion;
}

#define ENOUGH		100	/* fewer say nothing */
#define HELD		250e-6	/* seconds that moderation may cost: TCP sends for 1 ms ahead */
#define LATE		2e-3	/* seconds that are long without moderation */
#define USECS		50	/* of moderation: 20,000 interrupts a second at most */

/* The queue whose median is the longest; how many are as long as `least`. */
static unsigned slowest(const struct snapshot *s, double least, unsigned *queue, double *took)
{
	const struct table *t = &s->tables[METER_txlat];
	unsigned nr = 0;

	*took = 0;
	for (unsigned row = 0; row < t->rows; row++) {
		const uint64_t *w = cell(t, row, 0, &metrics[0]);
		double p50 = hist_percentile(&metrics[0], w, .5);

		if (place_of(s, &meter_txlat, row).queue < 0 || isnan(p50) || p50 < least ||
		    hist_count(&metrics[0], w) < ENOUGH)
			continue;
		nr++;
		if (p50 > *took) {
			*took = p50;
			*queue = row;
		}
	}
	return nr;
}

/* Is it the card's moderation that takes at least half of it? */
static bool moderated(const struct meta *m, double took)
{
	return m->tx_usecs ? m->tx_usecs * 2e-6 >= took : m->tx_frames;
}

static const char *less_moderation(const struct meta *m)
{
	const char *fixed = m->tx_adaptive ? "adaptive-tx off " : "";

	if (m->tx_usecs)
		return text("ethtool -C %s %stx-usecs %u", m->iface, fixed, USECS);
	return text("ethtool -C %s %stx-frames %u", m->iface, fixed,
		    m->tx_frames < 8 ? 1 : m->tx_frames / 4);
}

static const char *not_late(const struct snapshot *s)
{
	const char *dev = s->meta.iface;

	return driver_find(s->meta.driver)->late ?:
	       text("do its interrupts come late? nicprobe show %s irq, ethtool -c %s; is the link "
		    "full? a shorter TX ring: ethtool -g %s, ethtool -G %s tx N", s->name, dev, dev,
		    dev);
}

/* "the card holds them back for up to 512 us": what is known of it. */
static const char *cause(const struct meta *m, bool held)
{
	const char *by = m->tx_usecs ? text("%u us (tx-usecs)", m->tx_usecs) :
			 text("%u packets (tx-frames)", m->tx_frames);

	if (held)
		return text(": the card holds them back for %s", by);
	return m->tx_usecs ? text(", far more than its moderation of %s", by) : "";
}

/* What is sent and not completed counts as in flight. */
static void judge_slow(const struct snapshot *s, struct findings *f)
{
	unsigned queue, more;
	double took;
	bool held;

	if (!slowest(s, HELD, &queue, &took))
		return;
	held = moderated(&s->meta, took);
	if ((!held && took < LATE) || !finding_about(f, ABOUT_TX_SLOW, "txlat"))
		return;
	more = slowest(s, held ? HELD : LATE, &queue, &took) - 1;
	finding(f, "txlat", held ? less_moderation(&s->meta) : not_late(s),
		"completions of queue %u%s take %s (median)%s; until then their memory is "
		"held, and TCP (small queues) and BQL wait for them", queue,
		more ? text(" and of %u more", more) : "", finding_time(took),
		cause(&s->meta, held));
}

/* A ring that ethtool knows, or that of a device which has the length of its queue. */
static const char *longer_ring(const struct snapshot *s)
{
	return text(s->meta.max_rx_ring ? "ethtool -G %s tx N" : "ip link set dev %s txqueuelen N",
		    s->meta.iface);
}

/* Samples that found no room bias the rest: say so. */
static void judge(const struct snapshot *s, struct findings *f)
{
	const struct table *t = &s->tables[METER_txlat];
	uint64_t full = 0, in_xmit = 0, done = 0;

	for (unsigned row = 0; row < t->rows; row++) {
		full += cell(t, row, 0, &metrics[3])[TXLAT_FULL];
		in_xmit += cell(t, row, 0, &metrics[3])[TXLAT_FREED_IN_XMIT];
		done += hist_count(&metrics[0], cell(t, row, 0, &metrics[0]));
	}
	if (full)
		finding(f, "txlat", text("nicprobe attach %s --sample 16", s->name),
			"%" PRIu64 " packets were not timed: more were in flight than there is "
			"room for", full);
	judge_slow(s, f);
	if (in_xmit * 100 > done && in_xmit >= 100 && finding_about(f, ABOUT_TX_FULL, "txlat"))
		finding(f, "txlat", text("ip -s link show dev %s; a longer TX ring: %s",
					 s->meta.iface, longer_ring(s)),
			"the driver freed %" PRIu64 " packets before it sent them, %.1f%% of all",
			in_xmit, 100.0 * in_xmit / (in_xmit + done));
}

const struct meter meter_txlat = {
	.name = "txlat",
	.help = "time from the hand-over to the driver to the completion, by TX queue",
	.by = BY_QUEUE,
	.point = TX_NIC,
	.lanes = 2,
	.row_size = sizeof(struct txlat),
	.metrics = metrics,
	.elf = txlat_bpf__elf_bytes,
	.absent = absent,
	.judge = judge,
};
