/* SPDX-License-Identifier: GPL-2.0 */
/* veth, a pair of virtual interfaces, as containers have them. */
#include "../lib/driver.h"

const struct driver driver_veth = {
	.name = "veth",
	.help = "virtual Ethernet pair",
	.pool = true,			/* veth_create_page_pool(), with NAPI; since 6.4 */
	.spread = "the sender picks the queue of a packet: set XPS on the peer "
		  "(queues/tx-N/xps_cpus)",
	.rx_ring = 256,			/* VETH_RING_SIZE; 6.1, 6.12, 6.18 */
	.gro_by_ethtool = true,		/* and TSO off at the sender: veth_xmit() */
	.rx_queue = RX_QUEUE_RAW,	/* the queue its sender chose, without + 1; 6.18 */
	/* veth_xdp_set(): peer->features without NETIF_F_GSO_SOFTWARE, veth_enable_xdp(). */
	.xdp = "switches TSO off on its peer and NAPI on: what is measured changes",
	/* The same skb becomes the received packet of the peer. */
	.no_completion = "veth hands a packet straight to its peer: the driver never completes it",
};
