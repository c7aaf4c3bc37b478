/* SPDX-License-Identifier: GPL-2.0 */
/* bonding, several interfaces as one. */
#include "lib/core/nic_driver.h"

const struct driver driver_bonding = {
	.name = "bonding",
	.help = "several interfaces as one",
	/* bond_handle_frame() changes skb->dev, and the stack processes the skb again */
	.no_receive = "a port receives for the bond: no event reports its packets",
	.rx_queue = RX_QUEUE_RECORDED,	/* as its port recorded it */
	/* bond_xdp_set(), 5.15+. Fails where a port has none, and in modes broadcast, tlb, alb. */
	.xdp = "attaches to every port, with all the effects that has there",
	.gives_back_since = KERNEL(2, 6),	/* bond_start_xmit(), while netpoll is blocked */
	/* The same skb goes on to a port; the last start_xmit is the hardware's. */
	.no_completion = "a bond passes its packets to its ports: measure those",
	.no_napi = "a bond has no NAPI: its ports are polled",
};
