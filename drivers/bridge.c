/* SPDX-License-Identifier: GPL-2.0 */
/* bridge, the kernel's Ethernet switch. */
#include "lib/core/nic_driver.h"

const struct driver driver_bridge = {
	.name = "bridge",
	.help = "Ethernet bridge",
	.rx_queue = RX_QUEUE_RECORDED,	/* as its port recorded it */
	.no_xdp = true,		/* no ndo_bpf */
	/* The same skb goes on to a port; the last start_xmit is the hardware's. */
	.no_completion = "a bridge passes its packets to its ports: measure those",
	.no_napi = "a bridge has no NAPI: its ports are polled",
};
