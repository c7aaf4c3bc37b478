/* SPDX-License-Identifier: GPL-2.0 */
/* vxlan, Ethernet in UDP. */
#include "lib/core/nic_driver.h"

const struct driver driver_vxlan = {
	.name = "vxlan",
	.help = "Ethernet in UDP",
	.rx_queue = RX_QUEUE_RECORDED,	/* as the device below recorded it */
	.no_xdp = true,		/* no ndo_bpf */
	/* The same skb goes on to the device below; the last start_xmit is the hardware's. */
	.no_completion = "vxlan passes its packets to the interface below: measure that",
};
