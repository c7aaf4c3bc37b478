/* SPDX-License-Identifier: GPL-2.0 */
/* igbvf, the virtual functions of Intel 82576 and I350. */
#include "../lib/driver.h"

/*
 * Packets complete by kfree_skb, reason NOT_SPECIFIED, in net_tx_action(): igbvf_put_txbuf() calls
 * dev_kfree_skb_any() in the hard interrupt. No drops (6.1, 6.12).
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
};
