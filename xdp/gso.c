/* SPDX-License-Identifier: GPL-2.0 */
/* How sent buffers are shown, and when something on the way splits them too early. */
#include <inttypes.h>

#include "../lib/log.h"
#include "../lib/snapshot.h"
#include "gso.h"
#include "offload.h"

#define B(slot, bound) [slot] = bound,
static const uint64_t bounds[] = { SEGS_BOUNDS(B) };
#undef B

static const char *const works[NR_WORK] = {
	[WORK_SEGMENT] = "segment",
	[WORK_CHECKSUM] = "checksum",
	[WORK_GATHER] = "gather",
};

static const struct metric metrics[] = {
	HISTOGRAM(struct gso, size, .name = "buffer_size", .unit = "packets", .scale = 1,
		  .bounds = bounds, .help = "Sent buffers, by the wire packets in them."),
	COUNTER(struct gso, left, .name = "left", .unit = "packets",
		.label = "work", .labels = works,
		.help = "Wire packets, by what is left to do; what tx-nic has less, software did."),
	{}
};

#define ENOUGH 1000	/* fewer packets say nothing */

struct sums {
	uint64_t packets, large;	/* of these in buffers that are to be segmented */
};

static struct sums sum(const struct snapshot *s, enum point point)
{
	const struct table *t = &s->tables[METER_gso];
	struct sums sums = {};

	for (unsigned row = 0; row < t->rows; row++) {
		if (place_of(s, &meter_gso, row).point != point)
			continue;
		sums.packets += cell(t, row, 0, &metrics[0])[0];
		sums.large += cell(t, row, 0, &metrics[1])[WORK_SEGMENT];
	}
	return sums;
}

/* Wire packets of buffers that the kernel had to segment, as the features of the card say. */
static uint64_t must(const struct snapshot *s)
{
	const struct table *t = &s->tables[METER_offload];
	uint64_t packets = 0;

	for (unsigned row = 0; t->cells && row < t->rows; row++) {
		const struct offload_key *key = (const void *)(t->keys + row * sizeof(*key));

		if (key->feature <= FEATURE_SIZE)
			packets += t->cells[(size_t)row * t->words];
	}
	return packets;
}

/* Single packets at the driver that no feature explains. Drops in the qdisc make them fewer. */
static void judge(const struct snapshot *s, struct findings *f)
{
	struct sums stack = sum(s, TX_STACK), nic = sum(s, TX_NIC);
	uint64_t single = nic.packets - nic.large, was = stack.packets - stack.large;
	uint64_t known = was + must(s);

	if (!s->meta.tap[TX_STACK][0] || !s->meta.tap[TX_NIC][0] || !s->tables[METER_offload].cells)
		return;
	if (single < known + ENOUGH || (single - known) * 10 < stack.large)
		return;
	finding(f, "gso", text("tc -s qdisc show dev %s: tbf with a burst of less than 64 KB "
			       "splits them, and so does cake but for no-split-gso",
			       s->meta.iface),
		"%" PRIu64 " packets were segmented in software, %.0f%% of those in buffers, "
		"though the card can: it was the qdisc, or the driver objected",
		single - known, 100.0 * (single - known) / stack.large);
}

const struct meter meter_gso = {
	.name = "gso",
	.help = "sent buffers: the wire packets in each, and the work left",
	.by = BY_QUEUE | BY_POINT,
	.points = 1 << TX_STACK | 1 << TX_NIC,
	.row_size = sizeof(struct gso),
	.metrics = metrics,
	.judge = judge,
};
