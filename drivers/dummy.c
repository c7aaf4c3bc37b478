/* SPDX-License-Identifier: GPL-2.0 */
/* dummy, an interface that discards everything sent to it. */
#include "lib/core/nic_driver.h"

const struct driver driver_dummy = {
	.name = "dummy",
	.help = "discards all packets",
	.rx_queue = RX_QUEUE_RECORDED,	/* it receives nothing */
	.no_xdp = true,		/* no ndo_bpf */
	/* dummy_xmit(): dev_kfree_skb() before it returns. */
	.no_completion = "dummy frees a packet at once: nothing completes later",
	.no_napi = "dummy receives nothing",
};
