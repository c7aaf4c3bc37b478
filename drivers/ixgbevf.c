/* SPDX-License-Identifier: GPL-2.0 */
/* ixgbevf, the virtual functions of Intel 82599, X540 and X550. */
#include "drivers/shared.h"
#include "lib/core/nic_driver.h"

static const struct driver_name functions[] = {
	{ .name = "ixgbevf_msix_clean_rings", .does = DOES_INTERRUPT },
	{ .name = "ixgbevf_msix_other", .does = DOES_INTERRUPT },
	{ .name = "ixgbevf_poll", .does = DOES_POLL },
	{ .name = "ixgbevf_xmit_frame", .does = DOES_TRANSMIT },
	{ .name = "ixgbevf_alloc_rx_buffers", .does = DOES_REFILL },
	{ .name = "ixgbevf_xdp", .does = DOES_XDP },
	{ .name = "ixgbevf_tx_timeout", .does = DOES_TIMEOUT },
	{}
};

static const struct driver_stat stats[] = {
	STATS_PER_QUEUE("tx_queue_%t_", "rx_queue_%r_"),
	{ .name = "xdp_queue_%t_packets", .as = "tx_xdp" },
	{ .name = "tx_timeout_count", .as = "tx_timeouts" },
	{ .name = "alloc_rx_page_failed", .as = "rx_alloc_fail" },
	{ .name = "alloc_rx_buff_failed", .as = "rx_alloc_fail" },
	{ .name = "rx_csum_offload_errors", .as = "rx_csum_errors" },
	{}
};

const struct driver driver_ixgbevf = {
	.name = "ixgbevf",
	.help = "Intel 10-gigabit virtual function",
	.no_pool = true,		/* up to 6.12 */
	.keeps_dev = true,
	.rx_queue = RX_QUEUE_BY_NAPI,	/* never recorded, 6.1 and 6.12 */
	/* ixgbevf_xdp_setup(), 6.1 and 6.12: recreates the rings, which hold the counters. */
	.xdp = "resets queues and counters; fails with an MTU above its receive buffers",
	/* ixgbevf_request_msix_irqs(), 6.1 and 6.12 */
	.irqs = { "%i-TxRx-%q", "%i-rx-%r", "%i-tx-%t" },

	.functions = functions,
	.stats = stats,
	/* it counts tx_busy and tx_restart_queue per ring but reports neither */
	.stats_how = "tx_busy and tx_restart_queue stay 0; only the host's ixgbe counts the "
		     "card's drops for lack of buffers",
	.bytes = { TX_WIRE, .tx_least = 17, .rx_more = 14, .when = "completion" },
	.xdp_since = KERNEL(4, 17),
	.xdp_needs = "an MTU that fits a receive buffer",
	.completes = "ixgbevf_poll(), by NAPI",
};
