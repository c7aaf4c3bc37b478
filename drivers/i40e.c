/* SPDX-License-Identifier: GPL-2.0 */
/* i40e, Intel 40-gigabit: X710, XL710, XXV710. */
#include "drivers/shared.h"
#include "lib/core/nic_driver.h"

static const struct driver_name functions[] = {
	{ .name = "i40e_msix_clean_rings", .does = DOES_INTERRUPT },
	{ .name = "i40e_intr", .does = DOES_INTERRUPT },
	{ .name = "i40e_napi_poll", .does = DOES_POLL },
	{ .name = "i40e_lan_xmit_frame", .does = DOES_TRANSMIT },
	{ .name = "i40e_process_skb_fields", .does = DOES_RECEIVE },
	{ .name = "i40e_alloc_rx_buffers", .does = DOES_REFILL },
	{ .name = "i40e_xdp", .does = DOES_XDP },
	{ .name = "i40e_clean_rx_irq_zc", .does = DOES_XDP },
	{ .name = "i40e_tx_timeout", .does = DOES_TIMEOUT },
	{}
};

static const struct driver_name tracepoints[] = {
	{ .name = "i40e_xmit_frame_ring", .does = DOES_TRANSMIT },
	{ .name = "i40e_xmit_frame_ring_drop", .does = DOES_TRANSMIT },
	{ .name = "i40e_clean_tx_irq", .does = DOES_COMPLETE },
	{ .name = "i40e_clean_tx_irq_unmap", .does = DOES_COMPLETE },
	{ .name = "i40e_clean_rx_irq", .does = DOES_RECEIVE },
	{ .name = "i40e_clean_rx_irq_rx", .does = DOES_RECEIVE },
	{ .name = "i40e_napi_poll", .does = DOES_POLL, .since = KERNEL(6, 12) },
	{}
};

static const struct driver_stat stats[] = {
	STATS_PER_QUEUE("tx-%t.", "rx-%r."),
	STATS_OF_CARD("port.", ""),
	{ .name = "tx_busy", .as = "tx_busy" },
	{ .name = "tx_restart", .as = "tx_wake" },
	{ .name = "tx_linearize", .as = "tx_linearized" },
	{ .name = "rx_alloc_fail", .as = "rx_alloc_fail" },
	{ .name = "rx_pg_alloc_fail", .as = "rx_alloc_fail" },
	{ .name = "rx_errors", .as = "rx_errors" },
	{ .name = "tx_errors", .as = "tx_errors" },
	{ .name = "port.rx_discards", .as = "rx_missed" },
	{ .name = "port.tx_timeout", .as = "tx_timeouts" },
	{}
};

const struct driver driver_i40e = {
	.name = "i40e",
	.help = "Intel 40-gigabit",
	.no_pool = true,		/* up to 6.12 */
	.keeps_dev = true,
	.rx_queue = RX_QUEUE_RECORDED,	/* i40e_process_skb_fields() */
	/* i40e_xdp_setup(), 6.1 and 6.12: i40e_prep_for_reset(), i40e_reset_and_rebuild(). */
	.xdp = "resets the card; fails with an MTU above its receive buffers",
	/* i40e_vsi_request_irq_msix(), 6.1 and 6.12 */
	.irqs = { "i40e-%i-TxRx-%q", "i40e-%i-rx-%r", "i40e-%i-tx-%t" },

	.functions = functions,
	.tracepoints = tracepoints,
	.stats = stats,
	.bytes = { TX_WIRE, .tx_least = 17, .rx_more = 14, .when = "completion",
		   .but = "the statistics port.* are the card's, with FCS" },
	.xdp_since = KERNEL(4, 13),
	.xdp_needs = "an MTU that fits a receive buffer, or since 6.4 a program for fragments",
	.completes = "i40e_napi_poll(), by NAPI",
};
