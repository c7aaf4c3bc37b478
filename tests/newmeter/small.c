/* SPDX-License-Identifier: GPL-2.0 */
/* Names for the meter of small packets. */
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
	.by = BY_QUEUE | BY_POINT,
	.row_size = sizeof(struct small),
	.metrics = metrics,
};
