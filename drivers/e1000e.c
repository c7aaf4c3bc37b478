/* SPDX-License-Identifier: GPL-2.0 */
/* e1000e, Intel gigabit for PCI Express. */
#include "../lib/driver.h"

/*
 * With MSI-X it frees in the hard interrupt, which is traced later, in net_tx_action(): the latency
 * includes the wait for that softirq (e1000_intr_msix_tx(), 6.12).
 */
const struct driver driver_e1000e = {
	.name = "e1000e",
	.help = "Intel gigabit, PCI Express",
	.no_pool = true,		/* up to 6.12 */
	.keeps_dev = true,
	.rx_queue = RX_QUEUE_BY_NAPI,	/* one queue, not recorded; 6.1, 6.12 */
	.no_xdp = true,		/* no ndo_bpf */
	/* e1000_request_msix(); the plain name is other causes, or MSI for all */
	.irqs = { "%i-rx-%r", "%i-tx-%t" },
};
