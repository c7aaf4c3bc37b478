/* SPDX-License-Identifier: GPL-2.0 */
/* The meter gso: sent buffers by size, and by the work left. */
#include <inttypes.h>

#include "lib/read/snapshot.h"
#include "xdp/gso.h"

#define B(slot, bound) [slot] = bound,
static const uint64_t bounds[] = { SEGS_BOUNDS(B) };
#undef B

static const char *const works[] = {
	[WORK_SEGMENT] = "segment",
	[WORK_CHECKSUM] = "checksum",
	[WORK_GATHER] = "gather",
};

static const struct metric metrics[] = {
	HISTOGRAM(struct gso, size, .name = "buffer_size", .unit = "packets", .scale = 1,
		  .bounds = BOUNDS(struct gso, size, bounds),
		  .help = "Sent buffers, by the wire packets in them."),
	COUNTER(struct gso, left, .name = "left", .unit = "packets",
		.label = "work", .labels = LABELS(struct gso, left, works),
		.help = "Wire packets by work left; software does the difference from tx-stack to "
			"tx-nic."),
	{}
};

const struct meter meter_gso = {
	.name = "gso",
	.help = "sent buffers: the wire packets in each, and the work left",
	.type = PACKET_METER,
	.by = BY_QUEUE | BY_POINT,
	.points = 1 << TX_STACK | 1 << TX_NIC,
	.row_size = sizeof(struct gso),
	.lead = 1,	/* the sum of sizes: no packet has none */
	.metrics = metrics,
};
