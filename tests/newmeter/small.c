/* SPDX-License-Identifier: GPL-2.0 */
/* How small packets are called. */
#include "lib/core/meter.h"
#include "xdp/small.h"

static const struct metric metrics[] = {
	COUNTER(struct small, packets, .name = "packets", .unit = "packets",
		.help = "Packets of less than 128 bytes."),
	{}
};

const struct meter meter_small = {
	.name = "small",
	.help = "packets of less than 128 bytes",
	.type = PACKET_METER,
	.by = BY_QUEUE | BY_POINT,
	.row_size = sizeof(struct small),
	.metrics = metrics,
};
