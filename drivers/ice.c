/* SPDX-License-Identifier: GPL-2.0 */
/* ice, Intel 100-gigabit: E810, E822, E830. */
#include "drivers/shared.h"
#include "lib/core/nic_driver.h"

static const struct driver_name functions[] = {
	{ .name = "ice_msix_clean_rings", .does = DOES_INTERRUPT },
	{ .name = "ice_misc_intr", .does = DOES_INTERRUPT },
	{ .name = "ice_napi_poll", .does = DOES_POLL },
	{ .name = "ice_start_xmit", .does = DOES_TRANSMIT },
	{ .name = "ice_clean_rx_irq", .does = DOES_RECEIVE, .until = KERNEL(6, 12) },
	{ .name = "ice_receive_skb", .does = DOES_RECEIVE },
	{ .name = "ice_process_skb_fields", .does = DOES_RECEIVE },
	{ .name = "ice_alloc_rx_bufs", .does = DOES_REFILL },
	{ .name = "ice_xdp", .does = DOES_XDP },
	{ .name = "ice_clean_rx_irq_zc", .does = DOES_XDP },
	{ .name = "ice_tx_timeout", .does = DOES_TIMEOUT },
	{}
};

static const struct driver_name tracepoints[] = {
	{ .name = "ice_xmit_frame_ring", .does = DOES_TRANSMIT },
	{ .name = "ice_xmit_frame_ring_drop", .does = DOES_TRANSMIT },
	{ .name = "ice_tx_tstamp_request", .does = DOES_TRANSMIT },
	{ .name = "ice_clean_tx_irq", .does = DOES_COMPLETE },
	{ .name = "ice_clean_tx_irq_unmap", .does = DOES_COMPLETE },
	{ .name = "ice_clean_tx_irq_unmap_eop", .does = DOES_COMPLETE },
	{ .name = "ice_tx_tstamp_complete", .does = DOES_COMPLETE },
	{ .name = "ice_clean_rx_irq", .does = DOES_RECEIVE },
	{ .name = "ice_clean_rx_irq_indicate", .does = DOES_RECEIVE },
	{ .name = "ice_rx_dim_work", .does = DOES_INTERRUPT },
	{ .name = "ice_tx_dim_work", .does = DOES_INTERRUPT },
	{}
};

static const struct driver_stat stats[] = {
	STATS_PER_QUEUE("tx_queue_%t_", "rx_queue_%r_"),
	STATS_OF_CARD("", ".nic"),
	{ .name = "tx_busy", .as = "tx_busy" },
	{ .name = "tx_restart", .as = "tx_wake" },
	{ .name = "tx_linearize", .as = "tx_linearized" },
	{ .name = "tx_errors", .as = "tx_errors" },
	{ .name = "rx_dropped", .as = "rx_drops" },
	{ .name = "rx_alloc_fail", .as = "rx_alloc_fail" },
	{ .name = "rx_pg_alloc_fail", .as = "rx_alloc_fail" },
	{ .name = "rx_dropped.nic", .as = "rx_missed" },
	{ .name = "rx_csum_bad.nic", .as = "rx_csum_errors" },
	{ .name = "tx_timeout.nic", .as = "tx_timeouts" },
	{}
};

const struct driver driver_ice = {
	.name = "ice",
	.help = "Intel 100-gigabit",
	.keeps_dev = true,
	.rx_queue = RX_QUEUE_RECORDED,	/* ice_process_skb_fields() */
	/* ice_xdp_setup_prog(), 6.1 and 6.12: ice_down(), ice_prepare_xdp_rings(), ice_up(). */
	.xdp = "takes the link down and up again; fails with an MTU above its receive buffers",
	/* ice_vsi_req_irq_msix(), 6.1 and 6.12 */
	.irqs = { "ice-%i-TxRx-%q", "ice-%i-rx-%r", "ice-%i-tx-%t" },

	.functions = functions,
	.tracepoints = tracepoints,
	.stats = stats,
	.bytes = { TX_WIRE, .tx_least = 17, .rx_more = 14, .when = "completion",
		   .but = "the statistics *.nic are the card's, with FCS" },
	.xdp_since = KERNEL(5, 5),
	.xdp_needs = "an MTU that fits a receive buffer, or since 6.3 a program for fragments",
	.completes = "ice_napi_poll(), by NAPI",
};
