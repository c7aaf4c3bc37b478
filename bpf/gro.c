/* SPDX-License-Identifier: GPL-2.0 */
/* How the work of GRO is shown, and what keeps it from merging. */
#include "../lib/driver.h"
#include "../lib/log.h"
#include "../lib/snapshot.h"
#include "gro.h"
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
	COUNTER(struct gro, frames, .name = "frames", .unit = "packets",
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

#define ENOUGH 1000	/* fewer frames say nothing */
#define PAYLOAD 256	/* bytes of a mean frame: shorter ones are acknowledgements and the like */

struct sums {
	uint64_t buffers, packets, bytes, frames, past;
	uint64_t alone[NR_GRO_ALONE];
};

static struct sums sum(const struct snapshot *s)
{
	const struct table *t = &s->tables[METER_gro];
	struct sums sums = {};

	for (unsigned row = 0; row < t->rows; row++) {
		sums.buffers += hist_count(&metrics[SIZE], cell(t, row, 0, &metrics[SIZE]));
		sums.packets += cell(t, row, 0, &metrics[SIZE])[0];
		sums.bytes += *cell(t, row, 0, &metrics[BYTES]);
		for (unsigned i = 0; i < NR_GRO_FRAMES; i++)
			sums.frames += cell(t, row, 0, &metrics[FRAMES])[i];
		sums.past += cell(t, row, 0, &metrics[FRAMES])[GRO_FRAME_PAST];
		for (unsigned i = 0; i < NR_GRO_ALONE; i++)
			sums.alone[i] += cell(t, row, 0, &metrics[ALONE])[i];
	}
	return sums;
}

/* What has a remedy, from which share of the frames on it is worth a word. */
static const struct {
	enum gro_alone cause;
	double share;
	const char *what;	/* after the share of the frames */
	const char *try;	/* the one %s is the interface */
} remedies[] = {
	{ GRO_OFF, .5, "went through the stack one by one: GRO is off", "ethtool -K %s gro on" },
	{ GRO_XDP, .5, "went through the stack one by one: with generic XDP there is no GRO",
	  "native XDP, or none: ip link set dev %s xdpgeneric off" },
	{ GRO_UDP_FLOW, .25, "are UDP that could have been merged with the one before",
	  "if this host forwards them: ethtool -K %s rx-udp-gro-forwarding on; if a program here "
	  "reads them: its socket option UDP_GRO" },
	{ GRO_ECN, .1, "could not join a buffer: their ECN codepoint differs, as marks do",
	  "nicprobe show %s ecn ecn_source" },
	{ GRO_SEQUENCE, .1, "could not join a buffer: they came out of order, or others are "
	  "missing", "ethtool -S %s for drops; else paths of unequal length (bonding, ECMP): "
	  "nstat -az TcpExtTCPOFOQueue" },
};

static void judge(const struct snapshot *s, struct findings *f)
{
	struct sums sums = sum(s);

	if (sums.frames < ENOUGH || sums.bytes < PAYLOAD * sums.packets)
		return;
	for (unsigned i = 0; i < sizeof(remedies) / sizeof(*remedies); i++) {
		double share = (double)sums.alone[remedies[i].cause] / sums.frames;
		char try[sizeof(f->list->try)];

		snprintf(try, sizeof(try), remedies[i].try, s->meta.iface);
		if (share >= remedies[i].share)
			finding(f, "gro", try, "%.0f%% of the received frames %s", 100 * share,
				remedies[i].what);
	}
	/* what was merged before it was sent, as between containers, needs no GRO */
	if (driver_find(s->meta.driver)->gro_by_ethtool && sums.past * 2 >= sums.frames &&
	    sums.packets < 1.5 * sums.buffers)
		finding(f, "gro", text("ethtool -K %s gro on, and of its peer: "
				      "ethtool -K PEER tso off", s->meta.iface),
			"%.0f%% of the received frames go past GRO, one by one: the driver uses it "
			"only if told so", 100.0 * sums.past / sums.frames);
}

const struct meter meter_gro = {
	.name = "gro",
	.help = "received buffers: what GRO merged, and what it did not, and why",
	.by = BY_QUEUE,
	.point = RX_STACK,
	.row_size = sizeof(struct gro),
	.metrics = metrics,
	.elf = gro_bpf__elf_bytes,
	.judge = judge,
};
