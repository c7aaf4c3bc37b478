/* SPDX-License-Identifier: GPL-2.0 */
/* ixgbevf, the virtual functions of Intel 82599, X540 and X550. */
#include "../lib/driver.h"

const struct driver driver_ixgbevf = {
	.name = "ixgbevf",
	.help = "Intel 10-gigabit virtual function",
	.no_pool = true,		/* up to 6.12 */
	.keeps_dev = true,
	.rx_queue = RX_QUEUE_BY_NAPI,	/* never recorded, 6.1 and 6.12 */
	/* ixgbevf_xdp_setup(), 6.1 and 6.12: "hardware has to reinitialize queues". */
	.xdp = "resets the queues and fails with an MTU above its receive buffers",
	/* ixgbevf_request_msix_irqs(), 6.1 and 6.12 */
	.irqs = { "%i-TxRx-%q", "%i-rx-%r", "%i-tx-%t" },
};
