/* SPDX-License-Identifier: GPL-2.0 */
/* ifb, which queues packets that tc redirects from other interfaces. */
#include "lib/core/nic_driver.h"

const struct driver driver_ifb = {
	.name = "ifb",
	.help = "queues what another interface receives",
	.rx_queue = RX_QUEUE_RECORDED,	/* its packets are those of other interfaces */
	.no_xdp = true,		/* no ndo_bpf */
	.gives_back_since = KERNEL(2, 6),	/* ifb_xmit(), netif_tx_stop_queue() */
	/* ifb_ri_tasklet(): netif_receive_skb() or dev_queue_xmit() with the same skb. */
	.no_completion = "ifb returns a packet to its origin: the driver never completes it",
	.no_napi = "ifb has no NAPI: a tasklet passes its packets on",
};
