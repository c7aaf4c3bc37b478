/* SPDX-License-Identifier: GPL-2.0 */
/* igb, Intel gigabit with several queues. */
#include "../lib/driver.h"

const struct driver driver_igb = {
	.name = "igb",
	.help = "Intel gigabit, several queues",
	.no_pool = true,		/* up to 6.12 */
	.keeps_dev = true,
	.rx_queue = RX_QUEUE_RECORDED,	/* igb_process_skb_fields() */
	/* igb_xdp_setup(), 6.1 and 6.12: igb_close(), igb_open(). */
	.xdp = "takes it down and up again and fails with an MTU above its receive buffers",
	/* igb_request_msix(); the plain name is other causes, or MSI for all; 6.1, 6.12 */
	.irqs = { "%i-TxRx-%q", "%i-rx-%r", "%i-tx-%t" },
};
