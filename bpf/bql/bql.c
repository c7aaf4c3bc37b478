/* SPDX-License-Identifier: GPL-2.0 */
/* The meter bql: byte queue limits and stopped TX queues. */

#include "bpf/bql/bql.h"
#include "lib/net/iface.h"
#include "lib/read/snapshot.h"

static const char *const by[] = {
	[BQL_BY_DRIVER] = "driver",
	[BQL_BY_BQL] = "bql",
};

enum { BY_BQL, BY_DRIVER, STOPS, STOPPED, IDLE, STARVED, STALLS, FILL, IN_FLIGHT };

static const struct metric metrics[] = {
	[BY_BQL] = HISTOGRAM(struct bql, by_bql, .name = "stopped_by_bql", .unit = "seconds",
		.scale = 1e-9,
		.help = "How long packets had to wait because the byte limit was reached."),
	[BY_DRIVER] = HISTOGRAM(struct bql, by_driver, .name = "stopped_by_driver",
		.unit = "seconds", .scale = 1e-9,
		.help = "How long packets had to wait because the driver stopped the queue."),
	[STOPS] = COUNTER(struct bql, stops, .name = "stops", .unit = "stops",
		.label = "by", .labels = LABELS(struct bql, stops, by),
		.help = "Times the queue was found stopped."),
	[STOPPED] = LEVEL(struct bql, came, .name = "stopped", .unit = "queues",
		.help = "1: the queue is stopped, or nothing was sent since it was stopped."),
	[IDLE] = COUNTER(struct bql, idle, .name = "idle", .unit = "stops",
		.help = "Stops while no packet waited; their time is not counted."),
	[STARVED] = COUNTER(struct bql, starved, .name = "starved", .unit = "stops",
		.help = "Stops by BQL that lasted until the card had nothing left to send."),
	[STALLS] = COUNTER(struct bql, stalls, .name = "stalls", .unit = "stalls",
		.help = "Late completions counted by the kernel, if stall_thrs is set."),
	[FILL] = HISTOGRAM(struct bql, fill, .name = "fill", .unit = "ratio",
		.scale = 1.0 / BQL_FULL,
		.help = "Bytes in flight after each xmit, as a fraction of the limit."),
	[IN_FLIGHT] = HISTOGRAM(struct bql, in_flight, .name = "in_flight", .unit = "bytes",
		.scale = 1,
		.help = "Bytes in flight after each xmit, as BQL counts them."),
	{}
};

const struct meter meter_bql = {
	.name = "bql",
	.help = "byte queue limits, and how long TX queues were stopped",
	.type = EVENT_METER,
	.by = BY_QUEUE,
	.point = TX_NIC,
	.row_size = sizeof(struct bql),
	.lead = offsetof(struct bql, fill) / 8,
	.metrics = metrics,
};
