/* SPDX-License-Identifier: GPL-2.0 */
/* e1000, Intel gigabit for PCI, which many hypervisors emulate. */
#include "drivers/shared.h"
#include "lib/core/nic_driver.h"

static const struct driver_name functions[] = {
	{ .name = "e1000_intr", .does = DOES_INTERRUPT },
	{ .name = "e1000_clean", .does = DOES_POLL },
	{ .name = "e1000_xmit_frame", .does = DOES_TRANSMIT },
	{ .name = "e1000_unmap_and_free_tx_resource", .does = DOES_COMPLETE },
	{ .name = "e1000_clean_rx_irq", .does = DOES_RECEIVE },
	{ .name = "e1000_clean_jumbo_rx_irq", .does = DOES_RECEIVE },
	{ .name = "e1000_alloc_rx_buffers", .does = DOES_REFILL },
	{ .name = "e1000_alloc_jumbo_rx_buffers", .does = DOES_REFILL },
	{ .name = "e1000_tx_timeout", .does = DOES_TIMEOUT },
	{}
};

static const struct driver_stat stats[] = {
	STATS_OF_E1000,
	{}
};

const struct driver driver_e1000 = {
	.name = "e1000",
	.help = "Intel gigabit, PCI",
	.no_pool = true,		/* up to 6.12 */
	.keeps_dev = true,
	.rx_queue = RX_QUEUE_BY_NAPI,	/* one queue, not recorded; 6.1, 6.12 */
	.no_xdp = true,		/* no ndo_bpf */
	.irqs_how = "IFACE: one for everything; without MSI, so shared with other devices",

	.functions = functions,
	.stats = stats,
	.bytes = { TX_LINEAR, .tx_least = 60, .rx_more = 14, .when = "completion" },
	.completes = "e1000_clean(), by NAPI",
};
