/* SPDX-License-Identifier: GPL-2.0 */
/* The meter gro: what GRO merged, and why it did not merge the rest. */
#include "bpf/gro/gro.h"
#include "lib/core/nic_driver.h"
#include "lib/read/snapshot.h"

#define B(slot, bound) [slot] = bound,
static const uint64_t bounds[] = { SEGS_BOUNDS(B) };
#undef B

static const char *const frames[] = {
	[GRO_FRAME_MERGED] = "merged",
	[GRO_FRAME_MERGED_FREE] = "merged-free",
	[GRO_FRAME_HELD] = "held",
	[GRO_FRAME_NORMAL] = "normal",
	[GRO_FRAME_CONSUMED] = "consumed",
	[GRO_FRAME_PAST] = "past",
};

static const char *const causes[] = {
	[GRO_FIRST] = "first",
	[GRO_ACK] = "ack",
	[GRO_FLAGS] = "flags",
	[GRO_ECN] = "ecn",
	[GRO_SEQUENCE] = "sequence",
	[GRO_HEADER] = "header",
	[GRO_UDP] = "udp",
	[GRO_UDP_FLOW] = "udp-flow",
	[GRO_FRAGMENT] = "fragment",
	[GRO_PROTOCOL] = "protocol",
	[GRO_NOT_IP] = "not-ip",
	[GRO_OFF] = "off",
	[GRO_XDP] = "xdp-generic",
	[GRO_CARD] = "card",
	[GRO_OTHER] = "other",
	[GRO_UNREAD] = "unread",
};

static const char *const card[] = { "frames", "packets" };

enum { SIZE, BYTES, FRAMES, ALONE };
static const struct metric metrics[] = {
	HISTOGRAM(struct gro, size, .name = "buffer_size", .unit = "packets", .scale = 1,
		  .bounds = BOUNDS(struct gro, size, bounds),
		  .help = "Buffers that the stack received, by the wire packets in them."),
	COUNTER(struct gro, bytes, .name = "bytes", .unit = "bytes",
		.help = "Bytes in these buffers."),
	COUNTER(struct gro, frames, .name = "frames", .family = "gro_frames", .unit = "packets",
		.label = "result", .labels = LABELS(struct gro, frames, frames),
		.help = "Frames from the driver, by GRO's result; past: delivered without GRO."),
	COUNTER(struct gro, alone, .name = "alone", .unit = "packets",
		.label = "cause", .labels = LABELS(struct gro, alone, causes),
		.help = "Frames not merged into an earlier one (held, normal), by cause."),
	COUNTER(struct gro, card, .name = "card", .unit = "packets",
		.label = "of", .labels = LABELS(struct gro, card, card),
		.help = "Frames merged by the card (LRO, GRO-HW), and the packets in them."),
	{}
};

const struct meter meter_gro = {
	.name = "gro",
	.help = "received buffers: what GRO merged, and why it did not merge the rest",
	.type = EVENT_METER,
	.by = BY_QUEUE,
	.point = RX_STACK,
	.row_size = sizeof(struct gro),
	.metrics = metrics,
};
