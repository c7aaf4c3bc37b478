/* SPDX-License-Identifier: GPL-2.0 */
/* The meter ledger: the same packets as counted by the card, the driver and nicprobe. */
#include <stdio.h>
#include <string.h>

#include "bpf/hwstat/hwstat.h"
#include "bpf/ledger/ledger.h"
#include "lib/core/hook.h"
#include "lib/core/nic_driver.h"
#include "lib/util/log.h"

#define PACKETS(field, ...) \
	COUNTER(struct ledger, field, .unit = "packets", .group = "packets", __VA_ARGS__)
#define BYTES(field, ...) \
	COUNTER(struct ledger, field, .unit = "bytes", .group = "bytes", __VA_ARGS__)
#define RESIDUE(field, ...) { .kind = KIND_RESIDUE, .scale = 1, \
	.at = WORD(struct ledger, field), .words = WORDS(struct ledger, field), __VA_ARGS__ }

static const struct metric metrics[] = {
	PACKETS(hardware, .name = "hardware", .rare = true, .untold = true,
		.help = "Packets received or sent according to the card."),
	PACKETS(driver, .name = "driver",
		.help = "Packets received or sent according to the driver."),
	PACKETS(ours, .name = "ours",
		.help = "Packets seen at the nic point, counted as this driver counts."),
	PACKETS(xdp, .name = "xdp", .rare = true,
		.help = "Packets taken by XDP programs, according to the driver."),
	PACKETS(af_xdp, .name = "af_xdp", .rare = true,
		.help = "Packets lost by AF_XDP sockets, according to the meter xsk."),
	PACKETS(dropped, .name = "dropped", .rare = true,
		.help = "Packets dropped according to the driver."),
	RESIDUE(between, .name = "between", .unit = "packets", .rare = true, .group = "packets",
		.help = "Wire packets seen only at the first of the nic and stack points."),
	PACKETS(stack, .name = "stack",
		.help = "Wire packets seen at the stack point."),
	PACKETS(tc, .name = "tc", .rare = true,
		.help = "Packets dropped by tc filters, according to the meter drop."),
	RESIDUE(residue, .name = "residue", .unit = "packets", .group = "packets",
		.of = WORD(struct ledger, driver),
		.help = "Packets counted by the driver but not by us; below 0: only by us."),
	BYTES(hardware_bytes, .name = "hardware", .rare = true, .untold = true,
	      .help = "Bytes received or sent according to the card."),
	BYTES(driver_bytes, .name = "driver",
	      .help = "Bytes received or sent according to the driver."),
	BYTES(our_bytes, .name = "ours",
	      .help = "Bytes seen at the nic point, counted as this driver counts."),
	RESIDUE(residue_bytes, .name = "residue", .unit = "bytes", .group = "bytes",
		.of = WORD(struct ledger, driver_bytes),
		.help = "Bytes counted by the driver but not by us; below 0: only by us."),
	{}
};

static const char *const labels[] = { "direction", "queue", NULL };

static void key_text(const void *of, unsigned nr, char *out, size_t size)
{
	const struct ledger_key *key = of;
	unsigned queue = ledger_queue(key);

	if (!nr)
		snprintf(out, size, "%s", key->way ? "tx" : "rx");
	else
		snprintf(out, size, queue == LEDGER_ALL ? "all" : "%u", queue);
}

/* Rows of queues that appear within a window may be older than the window. */
static bool began(const struct table *then, const void *key)
{
	(void)then, (void)key;
	return false;
}

static const char *remark(const struct site *site)
{
	if (site->driver->bytes.tx == TX_NOT_KNOWN)
		return text("it is not known how %s counts bytes: of the usual ways the one with "
			    "the smallest residue is used", site->iface.driver);
	if (site->driver->bytes.tx == TX_CARD)
		return "the card counts sent packets, and emulated cards count in other ways: the "
		       "way with the smallest residue is used";
	return NULL;
}

const struct meter meter_ledger = {
	.name = "ledger",
	.help = "the same packets as counted by card, driver and nicprobe; the residue",
	.type = DERIVED_METER,
	.by = BY_KEY,
	.points = 1 << RX_NIC | 1 << TX_NIC,
	.row_size = sizeof(struct ledger),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct ledger_key),
		.labels = labels,
		.text = key_text,
		.sorted = true,
	},
	.layout = LAYOUT_BARE,
	.derived = {
		.derive = ledger_derive,
		.needs = 1ull << METER_pktsize | 1ull << METER_hwstat,
		.uses = 1ull << METER_txlat | 1ull << METER_drop | 1ull << METER_xsk,
		.around = 1ull << METER_pktsize,
	},
	.began = began,
	.remark = remark,
};
