/* SPDX-License-Identifier: GPL-2.0 */
/* Names of the ECN codepoints, and the meter ecn. */

#include "lib/read/snapshot.h"
#include "xdp/ecn.h"

static const char *const codepoints[] = {
	[ECN_NOT_IP] = "not-ip",
	[ECN_NOT_ECT] = "not-ect",
	[ECN_ECT1] = "ect1",
	[ECN_ECT0] = "ect0",
	[ECN_CE] = "ce",
};

static const struct metric metrics[] = {
	COUNTER(struct ecn, packets, .name = "packets", .unit = "packets",
		.label = "codepoint", .labels = LABELS(struct ecn, packets, codepoints),
		.help = "Wire packets by ECN codepoint; ce: marked as congestion experienced."),
	{}
};

const struct meter meter_ecn = {
	.name = "ecn",
	.help = "ECN codepoints, in wire packets",
	.type = PACKET_METER,
	.by = BY_QUEUE | BY_POINT,
	.row_size = sizeof(struct ecn),
	.metrics = metrics,
};
