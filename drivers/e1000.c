/* SPDX-License-Identifier: GPL-2.0 */
/* e1000, Intel gigabit for PCI, and what many hypervisors imitate. */
#include "../lib/driver.h"

const struct driver driver_e1000 = {
	.name = "e1000",
	.help = "Intel gigabit, PCI",
	.no_pool = true,		/* up to 6.12 */
	.keeps_dev = true,
	.rx_queue = RX_QUEUE_BY_NAPI,	/* one queue, not recorded; 6.1, 6.12 */
	.no_xdp = true,		/* no ndo_bpf */
};
