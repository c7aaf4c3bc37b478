/* SPDX-License-Identifier: GPL-2.0 */
/* How the ledger is shown, and what may have come of what is missing in it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/hwstat/hwstat.h"
#include "bpf/ledger/ledger.h"
#include "lib/core/hook.h"
#include "lib/core/nic_driver.h"
#include "lib/read/derived.h"
#include "lib/util/log.h"

#define PACKETS(field, ...) \
	COUNTER(struct ledger, field, .unit = "packets", .group = "packets", __VA_ARGS__)
#define BYTES(field, ...) \
	COUNTER(struct ledger, field, .unit = "bytes", .group = "bytes", __VA_ARGS__)
#define RESIDUE(field, ...) { .kind = KIND_RESIDUE, .scale = 1, \
	.at = WORD(struct ledger, field), .words = WORDS(struct ledger, field), __VA_ARGS__ }

static const struct metric metrics[] = {
	PACKETS(hardware, .name = "hardware", .rare = true, .untold = true,
		.help = "Packets that the card says it received or sent."),
	PACKETS(driver, .name = "driver",
		.help = "Packets that the driver says it received or sent."),
	PACKETS(ours, .name = "ours",
		.help = "Packets that we saw at the nic point, as this driver counts them."),
	PACKETS(xdp, .name = "xdp", .rare = true,
		.help = "Packets that XDP programs took, as the driver says."),
	PACKETS(af_xdp, .name = "af_xdp", .rare = true,
		.help = "Packets that AF_XDP sockets lost, as the meter xsk says."),
	PACKETS(dropped, .name = "dropped", .rare = true,
		.help = "Packets that the driver says it threw away."),
	RESIDUE(between, .name = "between", .unit = "packets", .rare = true, .group = "packets",
		.help = "Wire packets that came to the first of the nic and stack points alone."),
	PACKETS(stack, .name = "stack",
		.help = "Wire packets that we saw at the stack point."),
	PACKETS(tc, .name = "tc", .rare = true,
		.help = "Packets that filters of tc dropped, as the meter drop says."),
	RESIDUE(residue, .name = "residue", .unit = "packets", .group = "packets",
		.of = WORD(struct ledger, driver),
		.help = "Packets that the driver counted and we did not; below 0: we alone."),
	BYTES(hardware_bytes, .name = "hardware", .rare = true, .untold = true,
	      .help = "Bytes that the card says it received or sent."),
	BYTES(driver_bytes, .name = "driver",
	      .help = "Bytes that the driver says it received or sent."),
	BYTES(our_bytes, .name = "ours",
	      .help = "Bytes that we saw at the nic point, as this driver counts them."),
	RESIDUE(residue_bytes, .name = "residue", .unit = "bytes", .group = "bytes",
		.of = WORD(struct ledger, driver_bytes),
		.help = "Bytes that the driver counted and we did not; below 0: we alone."),
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

/* A queue that came up within a window has a row that is older than that. */
static bool began(const struct table *then, const void *key)
{
	(void)then, (void)key;
	return false;
}

static const char *remark(const struct site *site)
{
	if (site->driver->bytes.tx == TX_NOT_KNOWN)
		return text("nobody here knows how %s counts bytes: of the usual ways that which "
			    "leaves the least is taken", site->iface.driver);
	if (site->driver->bytes.tx == TX_CARD)
		return "the card counts what is sent, an emulated one as it pleases: of both ways "
		       "that which leaves less is taken";
	return NULL;
}

const struct meter meter_ledger = {
	.name = "ledger",
	.help = "the same packets, as card, driver and nicprobe count them; what is left",
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
