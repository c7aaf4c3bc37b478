/* SPDX-License-Identifier: GPL-2.0 */
/* netkit, a pair of virtual interfaces driven by BPF (6.7+). */
#include "lib/core/nic_driver.h"

const struct driver driver_netkit = {
	.name = "netkit",
	.help = "virtual pair for containers, driven by BPF",
	.rx_queue = RX_QUEUE_RAW,	/* the sender's queue, without + 1 */
	.no_xdp = true,		/* no ndo_bpf */
	/* netkit_xmit(): __netif_rx() with the same skb. */
	.no_completion = "netkit passes a packet to its peer: the driver never completes it",
	.no_napi = "netkit has no NAPI: the CPU's backlog takes its packets",
	/* eth_skb_pull_mac(), in L3 mode as well. */
};
