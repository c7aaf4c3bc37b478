/* SPDX-License-Identifier: GPL-2.0 */
/* loopback, a host's interface to itself. */
#include "lib/core/nic_driver.h"

const struct driver driver_loopback = {
	.name = "loopback",
	.help = "this host itself",
	.rx_queue = RX_QUEUE_RECORDED,	/* one queue */
	.no_xdp = true,		/* no ndo_bpf */
	/* loopback_xmit(): skb_orphan(), __netif_rx() with the same skb. */
	.no_completion = "loopback returns a packet to the stack: the driver never completes it",
	.no_napi = "loopback has no NAPI: the CPU's backlog takes its packets",
	/* eth_type_trans() in loopback_xmit(). */
};
