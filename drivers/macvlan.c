/* SPDX-License-Identifier: GPL-2.0 */
/* macvlan, another address on an interface. */
#include "lib/core/nic_driver.h"

const struct driver driver_macvlan = {
	.name = "macvlan",
	.help = "another address on an interface",
	/* macvlan_handle_frame() changes skb->dev, and the stack processes the skb again */
	.no_receive = "the interface below receives for macvlan: no event reports its packets",
	.rx_queue = RX_QUEUE_RECORDED,	/* as the device below recorded it */
	.no_xdp = true,		/* no ndo_bpf */
	/* The same skb goes on to the device below; the last start_xmit is the hardware's. */
	.no_completion = "macvlan passes its packets to the interface below: measure that",
	.no_napi = "macvlan has no NAPI: the interface below is polled",
};
