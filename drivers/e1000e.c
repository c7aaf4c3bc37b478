/* SPDX-License-Identifier: GPL-2.0 */
/* e1000e, Intel gigabit for PCI Express. */
#include "drivers/shared.h"
#include "lib/core/nic_driver.h"

static const struct driver_name functions[] = {
	{ .name = "e1000_intr_msix_rx", .does = DOES_INTERRUPT },
	{ .name = "e1000_intr_msix_tx", .does = DOES_INTERRUPT },
	{ .name = "e1000_msix_other", .does = DOES_INTERRUPT },
	{ .name = "e1000_intr_msi", .does = DOES_INTERRUPT },
	{ .name = "e1000_intr", .does = DOES_INTERRUPT },
	{ .name = "e1000e_poll", .does = DOES_POLL },
	{ .name = "e1000_xmit_frame", .does = DOES_TRANSMIT },
	{ .name = "e1000_clean_tx_irq", .does = DOES_COMPLETE },
	{ .name = "e1000_clean_rx_irq", .does = DOES_RECEIVE },
	{ .name = "e1000_clean_rx_irq_ps", .does = DOES_RECEIVE },
	{ .name = "e1000_clean_jumbo_rx_irq", .does = DOES_RECEIVE },
	{ .name = "e1000_alloc_rx_buffers", .does = DOES_REFILL },
	{ .name = "e1000_alloc_rx_buffers_ps", .does = DOES_REFILL },
	{ .name = "e1000_alloc_jumbo_rx_buffers", .does = DOES_REFILL },
	{ .name = "e1000_tx_timeout", .does = DOES_TIMEOUT },
	{}
};

static const struct driver_name tracepoints[] = {
	{ .name = "e1000e_trace_mac_register", .does = DOES_OTHER, .since = KERNEL(6, 12) },
	{}
};

static const struct driver_stat stats[] = {
	STATS_OF_E1000,
	{ .name = "tx_dma_failed", .as = "tx_dma_fail" },
	{}
};

/*
 * With MSI-X it frees packets in the hard interrupt, but the kernel traces that in net_tx_action():
 * the latency includes the wait for that softirq (e1000_intr_msix_tx(), 6.12).
 */
const struct driver driver_e1000e = {
	.name = "e1000e",
	.help = "Intel gigabit, PCI Express",
	.no_pool = true,		/* up to 6.12 */
	.keeps_dev = true,
	.rx_queue = RX_QUEUE_BY_NAPI,	/* one queue, not recorded; 6.1, 6.12 */
	.no_xdp = true,		/* no ndo_bpf */
	/* e1000_request_msix(); the plain name is for other causes, with MSI for everything */
	.irqs = { "%i-rx-%r", "%i-tx-%t" },

	.functions = functions,
	.tracepoints = tracepoints,
	.stats = stats,
	.bytes = { TX_CARD, .rx_more = 18, .when = "reading",
		   .but = "the card counts frames on the wire, with FCS" },
	.completes = "with MSI-X in the hard interrupt, otherwise e1000e_poll()",
};
