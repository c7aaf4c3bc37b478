/* SPDX-License-Identifier: GPL-2.0 */
/* vlan, one VLAN of another interface; its driver name contains spaces. */
#include "lib/core/nic_driver.h"

const struct driver driver_vlan = {
	.name = "802.1Q VLAN Support",
	.help = "one VLAN of another interface",
	/* vlan_do_receive() changes skb->dev, and the stack processes the skb again */
	.no_receive = "the interface below receives for a VLAN: no event reports its packets",
	.rx_queue = RX_QUEUE_RECORDED,	/* as the device below recorded it */
	.no_xdp = true,		/* no ndo_bpf */
	/* The same skb goes on to the device below; the last start_xmit is the hardware's. */
	.no_completion = "a VLAN passes its packets to the interface below: measure that",
	.no_napi = "a VLAN has no NAPI: the interface below is polled",
};
