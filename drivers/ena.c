/* SPDX-License-Identifier: GPL-2.0 */
/* ena, the NIC of Amazon EC2 instances. */
#include "../lib/driver.h"

const struct driver driver_ena = {
	.name = "ena",
	.help = "Amazon Elastic Network Adapter",
	.no_pool = true,		/* up to 6.12 */
	.keeps_dev = true,
	.rx_queue = RX_QUEUE_RECORDED,	/* ena_clean_rx_irq() */
	/*
	 * ena_xdp_set(), 6.1 and 6.12: ena_down(), ena_up(). 3498: ENA_XDP_MAX_MTU, 4 KiB pages.
	 * It wants twice the queues, too: with more than half of the channels in use it fails.
	 */
	.xdp = "resets the queues and fails with an MTU above 3498",
	/* ena_setup_io_intr(); "ena-mgmnt@pci:…" besides; 6.1 and 6.12 */
	.irqs = { "%i-Tx-Rx-%q" },
};
