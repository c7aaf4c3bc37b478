/* SPDX-License-Identifier: GPL-2.0 */
/* ifb, where tc sends packets of other interfaces to be queued. */
#include "lib/core/nic_driver.h"

const struct driver driver_ifb = {
	.name = "ifb",
	.help = "a place to queue what another interface receives",
	.rx_queue = RX_QUEUE_RECORDED,	/* it hands up packets of others */
	.no_xdp = true,		/* no ndo_bpf */
	/* ifb_ri_tasklet(): netif_receive_skb() or dev_queue_xmit() with the same skb. */
	.no_completion = "ifb hands a packet back to where it came from and never completes it",
	.no_napi = "ifb has no NAPI: a tasklet hands its packets on",
};
