/* SPDX-License-Identifier: GPL-2.0 */
/* How byte queue limits and stopped queues are shown, and when a limit or a ring is wrong. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "bpf/bql/bql.h"
#include "lib/net/iface.h"
#include "lib/net/sysfs.h"
#include "lib/read/snapshot.h"
#include "lib/util/log.h"
#include "bql.skel.h"

static const char *const by[NR_BQL_BY] = {
	[BQL_BY_DRIVER] = "driver",
	[BQL_BY_BQL] = "bql",
};

enum { BY_BQL, BY_DRIVER, STOPS, STOPPED, IDLE, STARVED, STALLS, FILL, IN_FLIGHT };

static const struct metric metrics[] = {
	[BY_BQL] = HISTOGRAM(struct bql, by_bql, .name = "stopped_by_bql", .unit = "seconds",
		.scale = 1e-9,
		.help = "How long packets could not go because the byte limit was reached."),
	[BY_DRIVER] = HISTOGRAM(struct bql, by_driver, .name = "stopped_by_driver",
		.unit = "seconds", .scale = 1e-9,
		.help = "How long packets could not go because the driver stopped the queue."),
	[STOPS] = COUNTER(struct bql, stops, .name = "stops", .unit = "stops",
		.label = "by", .labels = by, .help = "Times the queue was found stopped."),
	[STOPPED] = LEVEL(struct bql, came, .name = "stopped", .unit = "queues",
		.help = "1: the queue is stopped now, or nothing was sent since it was."),
	[IDLE] = COUNTER(struct bql, idle, .name = "idle", .unit = "stops",
		.help = "Stops during which there was nothing to send: no time is counted."),
	[STARVED] = COUNTER(struct bql, starved, .name = "starved", .unit = "stops",
		.help = "Stops by BQL that ended when the card had nothing left to send."),
	[STALLS] = COUNTER(struct bql, stalls, .name = "stalls", .unit = "stalls",
		.help = "Completions that the kernel found late, where stall_thrs asks for it."),
	[FILL] = HISTOGRAM(struct bql, fill, .name = "fill", .unit = "ratio",
		.scale = 1.0 / BQL_FULL,
		.help = "Bytes in flight after a hand-over, as a part of the limit."),
	[IN_FLIGHT] = HISTOGRAM(struct bql, in_flight, .name = "in_flight", .unit = "bytes",
		.scale = 1,
		.help = "Bytes in flight after a hand-over, as BQL counts them."),
	{}
};

const struct meter meter_bql = {
	.name = "bql",
	.help = "byte queue limits, and how long a TX queue stood stopped",
	.type = EVENT_METER,
	.by = BY_QUEUE,
	.point = TX_NIC,
	.row_size = sizeof(struct bql),
	.metrics = metrics,
	.events = { .elf = bql_bpf__elf_bytes },
};
