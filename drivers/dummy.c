/* SPDX-License-Identifier: GPL-2.0 */
/* dummy, an interface that throws away what it is sent. */
#include "lib/core/nic_driver.h"

const struct driver driver_dummy = {
	.name = "dummy",
	.help = "nowhere",
	.rx_queue = RX_QUEUE_RECORDED,	/* it receives nothing */
	.no_xdp = true,		/* no ndo_bpf */
	/* dummy_xmit(): dev_kfree_skb() before it returns. */
	.no_completion = "dummy throws a packet away at once: there is nothing to complete",
	.no_napi = "dummy receives nothing",
};
