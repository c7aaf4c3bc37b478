/* SPDX-License-Identifier: GPL-2.0 */
/* How the work of GRO is shown, and what keeps it from merging. */
#include "bpf/gro/gro.h"
#include "lib/core/nic_driver.h"
#include "lib/read/snapshot.h"
#include "lib/util/log.h"
#include "gro.skel.h"

#define B(slot, bound) [slot] = bound,
static const uint64_t bounds[] = { SEGS_BOUNDS(B) };
#undef B

static const char *const frames[NR_GRO_FRAMES] = {
	[GRO_FRAME_MERGED] = "merged",
	[GRO_FRAME_MERGED_FREE] = "merged-free",
	[GRO_FRAME_HELD] = "held",
	[GRO_FRAME_NORMAL] = "normal",
	[GRO_FRAME_CONSUMED] = "consumed",
	[GRO_FRAME_PAST] = "past",
};

static const char *const causes[NR_GRO_ALONE] = {
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

enum { SIZE, BYTES, FRAMES, ALONE };	/* of these */
static const struct metric metrics[] = {
	HISTOGRAM(struct gro, size, .name = "buffer_size", .unit = "packets", .scale = 1,
		  .bounds = bounds,
		  .help = "Buffers that the stack received, by the wire packets in them."),
	COUNTER(struct gro, bytes, .name = "bytes", .unit = "bytes",
		.help = "Bytes in these buffers."),
	COUNTER(struct gro, frames, .name = "frames", .family = "gro_frames", .unit = "packets",
		.label = "result", .labels = frames,
		.help = "Frames from the driver, by what GRO made of them; past: without GRO."),
	COUNTER(struct gro, alone, .name = "alone", .unit = "packets",
		.label = "cause", .labels = causes,
		.help = "Frames that were not merged into one before (held, normal), by cause."),
	COUNTER(struct gro, card, .name = "card", .unit = "packets",
		.label = "of", .labels = card,
		.help = "Frames that the card had merged (LRO, GRO-HW); the packets in them."),
	{}
};

const struct meter meter_gro = {
	.name = "gro",
	.help = "received buffers: what GRO merged, and what it did not, and why",
	.type = EVENT_METER,
	.by = BY_QUEUE,
	.point = RX_STACK,
	.row_size = sizeof(struct gro),
	.metrics = metrics,
	.events = { .elf = gro_bpf__elf_bytes },
};
