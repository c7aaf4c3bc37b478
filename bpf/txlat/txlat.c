/* SPDX-License-Identifier: GPL-2.0 */
/* The meter txlat: time from the driver's xmit to completion. */

#include "bpf/txlat/txlat.h"
#include "lib/attach/configure.h"
#include "lib/core/hook.h"
#include "lib/kernel/feature.h"
#include "lib/kernel/release.h"
#include "lib/read/snapshot.h"

static const char *const causes[] = {
	[TXLAT_FULL] = "table-full",
	[TXLAT_FREED_IN_XMIT] = "freed-in-xmit",
	[TXLAT_MOVED] = "other-device",
	[TXLAT_NEVER_FREED] = "never-freed",
};

static const struct metric metrics[] = {
	HISTOGRAM(struct txlat, completion, .name = "completion", .unit = "seconds", .scale = 1e-9,
		  .help = "Time from the driver's xmit until it freed the packet."),
	LEVEL(struct txlat, came, .name = "in_flight", .unit = "packets",
	      .help = "Packets that the driver has not completed yet."),
	COUNTER(struct txlat, retried, .name = "retried", .unit = "packets",
		.help = "Packets requeued because the driver was busy (NETDEV_TX_BUSY)."),
	COUNTER(struct txlat, lost, .name = "lost", .unit = "packets",
		.label = "cause", .labels = LABELS(struct txlat, lost, causes),
		.help = "Packets whose time could not be measured, by cause."),
	{}
};

static const char *absent(const struct site *site)
{
	return site->driver->no_completion;
}

static const char *remark(const struct site *site)
{
	(void)site;
	if (!release_defers() ||
	    (!kernel_lacks(FEATURE_FENTRY) && kernel_enters("skb_attempt_defer_free")))
		return NULL;
	return "a packet sent by another CPU completes at that CPU's next poll, or unseen: since "
	       "6.19 only fentry sees it earlier, which this kernel refuses";
}

/*
 * The table has 2^n chunks of 16 places: with all rings full, one place in eight is taken. The
 * overflow has as many buckets of four.
 */
static void configure(const struct iface *i, const struct request *req, struct config *c)
{
	unsigned long long packets = (unsigned long long)i->tx_queues * i->tx_ring;

	c->flight_shift = 32 - table_bits(packets / 2 / (req->sample ?: 1), 16);
}

static unsigned chunks(const struct config *c)
{
	return 1u << (32 - c->flight_shift);
}

static const struct map_plan maps[] = {
	{ "txlat_flight", .entries = chunks },
	{ "txlat_elsewhere", .entries = chunks },
	{ "txlat_overflow", .entries = chunks },
	{}
};

/* A sent packet may have another device by the time it is freed. */
static bool wanders(const struct config *c)
{
	return !c->stays;
}

const struct meter meter_txlat = {
	.name = "txlat",
	.help = "time from the driver's xmit to completion, by TX queue",
	.type = EVENT_METER,
	.by = BY_QUEUE,
	.point = TX_NIC,
	.lanes = 3,
	.row_size = sizeof(struct txlat),
	.lead = offsetof(struct txlat, completion) / 8,
	.metrics = metrics,
	.events = { .maps = maps, .global = true, .wanders = wanders },
	.configure = configure,
	.thins = { .take = 170, .pass = 37 },
	.absent = absent,
	.remark = remark,
};
