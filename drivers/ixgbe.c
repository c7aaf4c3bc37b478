/* SPDX-License-Identifier: GPL-2.0 */
/* ixgbe, Intel 10-gigabit: 82598, 82599, X540, X550. */
#include "drivers/shared.h"
#include "lib/core/nic_driver.h"

static const struct driver_name functions[] = {
	{ .name = "ixgbe_msix_clean_rings", .does = DOES_INTERRUPT },
	{ .name = "ixgbe_msix_other", .does = DOES_INTERRUPT },
	{ .name = "ixgbe_intr", .does = DOES_INTERRUPT },
	{ .name = "ixgbe_poll", .does = DOES_POLL },
	{ .name = "ixgbe_xmit_frame", .does = DOES_TRANSMIT },
	{ .name = "ixgbe_xmit_frame_ring", .does = DOES_TRANSMIT },
	{ .name = "ixgbe_rx_skb", .does = DOES_RECEIVE },
	{ .name = "ixgbe_process_skb_fields", .does = DOES_RECEIVE },
	{ .name = "ixgbe_alloc_rx_buffers", .does = DOES_REFILL },
	{ .name = "ixgbe_xdp", .does = DOES_XDP },
	{ .name = "ixgbe_clean_rx_irq_zc", .does = DOES_XDP },
	{ .name = "ixgbe_tx_timeout", .does = DOES_TIMEOUT },
	{}
};

static const struct driver_stat stats[] = {
	STATS_PER_QUEUE("tx_queue_%t_", "rx_queue_%r_"),
	{ .name = "tx_pkts_nic", .as = "tx_card_packets" },
	{ .name = "tx_bytes_nic", .as = "tx_card_bytes" },
	{ .name = "rx_pkts_nic", .as = "rx_card_packets" },
	{ .name = "rx_bytes_nic", .as = "rx_card_bytes" },
	{ .name = "tx_busy", .as = "tx_busy" },
	{ .name = "tx_restart_queue", .as = "tx_wake" },
	{ .name = "tx_timeout_count", .as = "tx_timeouts" },
	{ .name = "alloc_rx_page_failed", .as = "rx_alloc_fail" },
	{ .name = "alloc_rx_buff_failed", .as = "rx_alloc_fail" },
	{ .name = "rx_no_buffer_count", .as = "rx_no_buffer" },
	{ .name = "rx_missed_errors", .as = "rx_missed" },
	{ .name = "rx_errors", .as = "rx_errors" },
	{ .name = "rx_csum_offload_errors", .as = "rx_csum_errors" },
	{ .name = "rx_no_dma_resources", .as = "rx_no_buffer" },
	{}
};

const struct driver driver_ixgbe = {
	.name = "ixgbe",
	.help = "Intel 10-gigabit",
	.no_pool = true,		/* up to 6.12 */
	.keeps_dev = true,
	.rx_queue = RX_QUEUE_RECORDED,	/* ixgbe_process_skb_fields() */
	/* ixgbe_xdp_setup(), 6.1 and 6.12: ixgbe_setup_tc(), which closes and reopens it. */
	.xdp = "takes the link down and up again; fails with an MTU above its receive buffers",
	/* ixgbe_request_msix_irqs(), 6.1 and 6.12 */
	.irqs = { "%i-TxRx-%q", "%i-rx-%r", "%i-tx-%t" },

	.functions = functions,
	.stats = stats,
	.bytes = { TX_WIRE, .tx_least = 17, .rx_more = 14, .when = "completion" },
	.xdp_since = KERNEL(4, 12),
	.xdp_needs = "an MTU that fits a receive buffer, no SR-IOV and no DCB",
	.completes = "ixgbe_poll(), by NAPI",
};
