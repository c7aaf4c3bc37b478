/* SPDX-License-Identifier: GPL-2.0 */
/* igb, Intel gigabit with several queues. */
#include "lib/core/nic_driver.h"

static const struct driver_name functions[] = {
	{ .name = "igb_msix_ring", .does = DOES_INTERRUPT },
	{ .name = "igb_msix_other", .does = DOES_INTERRUPT },
	{ .name = "igb_intr_msi", .does = DOES_INTERRUPT },
	{ .name = "igb_intr", .does = DOES_INTERRUPT },
	{ .name = "igb_poll", .does = DOES_POLL },
	{ .name = "igb_xmit_frame", .does = DOES_TRANSMIT },
	{ .name = "igb_xmit_frame_ring", .does = DOES_TRANSMIT },
	{ .name = "igb_alloc_rx_buffers", .does = DOES_REFILL },
	{ .name = "igb_xdp", .does = DOES_XDP },
	{ .name = "igb_tx_timeout", .does = DOES_TIMEOUT },
	{}
};

static const struct driver_stat stats[] = {
	{ .name = "tx_queue_%t_packets", .as = "tx_packets" },
	{ .name = "tx_queue_%t_bytes", .as = "tx_bytes" },
	{ .name = "tx_queue_%t_restart", .as = "tx_wake" },
	{ .name = "rx_queue_%r_packets", .as = "rx_packets" },
	{ .name = "rx_queue_%r_bytes", .as = "rx_bytes" },
	{ .name = "rx_queue_%r_drops", .as = "rx_drops" },
	{ .name = "rx_queue_%r_csum_err", .as = "rx_csum_errors" },
	{ .name = "rx_queue_%r_alloc_failed", .as = "rx_alloc_fail" },
	{ .name = "tx_packets", .as = "tx_card_packets" },
	{ .name = "tx_bytes", .as = "tx_card_bytes" },
	{ .name = "rx_packets", .as = "rx_card_packets" },
	{ .name = "rx_bytes", .as = "rx_card_bytes" },
	{ .name = "tx_timeout_count", .as = "tx_timeouts" },
	{ .name = "rx_no_buffer_count", .as = "rx_no_buffer" },
	{ .name = "rx_missed_errors", .as = "rx_missed" },
	{ .name = "rx_errors", .as = "rx_errors" },
	{ .name = "tx_errors", .as = "tx_errors" },
	{}
};

const struct driver driver_igb = {
	.name = "igb",
	.help = "Intel gigabit, several queues",
	.no_pool = true,		/* up to 6.12 */
	.keeps_dev = true,
	.rx_queue = RX_QUEUE_RECORDED,	/* igb_process_skb_fields() */
	/* igb_xdp_setup(), 6.1 and 6.12: igb_close(), igb_open(); emulated 1.0 s and 2.4 s */
	.xdp = "takes the link down and up again; fails with an MTU above its receive buffers",
	.xdp_takes = "a second or two, with or without a link",
	/* igb_request_msix(); the plain name: other causes, with MSI everything; 6.1, 6.12 */
	.irqs = { "%i-TxRx-%q", "%i-rx-%r", "%i-tx-%t" },

	.functions = functions,
	.stats = stats,
	.bytes = { TX_WIRE, .tx_least = 17, .rx_more = 14, .when = "completion" },
	.xdp_since = KERNEL(5, 10),
	.xdp_needs = "an MTU that fits a receive buffer",
	.completes = "igb_poll(), by NAPI",
};
