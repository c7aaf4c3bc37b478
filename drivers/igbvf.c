/* SPDX-License-Identifier: GPL-2.0 */
/* igbvf, the virtual functions of Intel 82576 and I350. */
#include "lib/core/nic_driver.h"

static const struct driver_name functions[] = {
	{ .name = "igbvf_intr_msix_rx", .does = DOES_INTERRUPT },
	{ .name = "igbvf_intr_msix_tx", .does = DOES_INTERRUPT },
	{ .name = "igbvf_msix_other", .does = DOES_INTERRUPT },
	{ .name = "igbvf_poll", .does = DOES_POLL },
	{ .name = "igbvf_xmit_frame", .does = DOES_TRANSMIT },
	{ .name = "igbvf_clean_tx_irq", .does = DOES_COMPLETE },
	{ .name = "igbvf_put_txbuf", .does = DOES_COMPLETE },
	{ .name = "igbvf_alloc_rx_buffers", .does = DOES_REFILL },
	{ .name = "igbvf_tx_timeout", .does = DOES_TIMEOUT },
	{}
};

static const struct driver_stat stats[] = {
	{ .name = "tx_packets", .as = "tx_card_packets" },
	{ .name = "tx_bytes", .as = "tx_card_bytes" },
	{ .name = "tx_restart_queue", .as = "tx_wake" },
	{ .name = "rx_packets", .as = "rx_card_packets" },
	{ .name = "rx_bytes", .as = "rx_card_bytes" },
	{ .name = "rx_csum_offload_errors", .as = "rx_csum_errors" },
	{}
};

/*
 * Completions appear as kfree_skb with NOT_SPECIFIED, in net_tx_action(): igbvf_put_txbuf() calls
 * dev_kfree_skb_any() in the hard interrupt. They are not drops (6.1, 6.12).
 */
const struct driver driver_igbvf = {
	.name = "igbvf",
	.help = "Intel gigabit virtual function",
	.no_pool = true,		/* up to 6.12 */
	.keeps_dev = true,
	.kfree_completes = true,
	.rx_queue = RX_QUEUE_BY_NAPI,	/* one queue, not recorded; 6.1, 6.12 */
	.no_xdp = true,		/* no ndo_bpf */
	/* igbvf_request_msix(), 6.1 and 6.12 */
	.irqs = { "%i-rx-%r", "%i-tx-%t" },

	.functions = functions,
	.stats = stats,
	.bytes = { TX_LINEAR, .rx_more = 14, .when = "completion" },
	.completes = "igbvf_intr_msix_tx(), in the hard interrupt",
};
