/* SPDX-License-Identifier: GPL-2.0 */
/* The meter pktsize: its size classes. */
#include "lib/core/meter.h"
#include "xdp/pktsize.h"

#define B(slot, bound) [slot] = bound,
static const uint64_t bounds[] = { PKTSIZE_BOUNDS(B) };
#undef B

static const struct metric metrics[] = {
	HISTOGRAM(struct pktsize, size, .name = "packet_size", .unit = "bytes", .scale = 1,
		  .bounds = BOUNDS(struct pktsize, size, bounds), .family = "packet_size_bytes",
		  .every_packet = true,
		  .help = "Packets by size, with the Ethernet header but without FCS."),
	{}
};

const struct meter meter_pktsize = {
	.name = "pktsize",
	.help = "sizes of wire packets (nic points) and of buffers (stack points)",
	.type = PACKET_METER,
	.by = BY_QUEUE | BY_POINT,
	.row_size = sizeof(struct pktsize),
	.lead = 1,	/* the sum of sizes: no packet has none */
	.metrics = metrics,
};
