/* SPDX-License-Identifier: GPL-2.0 */
/* veth, a pair of virtual interfaces, as used by containers. */
#include "lib/core/nic_driver.h"

static const struct driver_name functions[] = {
	{ .name = "veth_poll", .does = DOES_POLL },
	{ .name = "veth_xmit", .does = DOES_TRANSMIT },
	{ .name = "veth_xdp_rcv_skb", .does = DOES_RECEIVE },
	{ .name = "veth_xdp_rcv_one", .does = DOES_RECEIVE },
	{ .name = "veth_xdp", .does = DOES_XDP },
	{ .name = "veth_xdp_xmit", .does = DOES_XDP },
	{}
};

static const struct driver_stat stats[] = {
	{ .name = "rx_queue_%r_xdp_packets", .as = "xdp_packets" },
	{ .name = "rx_queue_%r_xdp_bytes", .as = "rx_bytes" },
	{ .name = "rx_queue_%r_drops", .as = "rx_drops" },
	{ .name = "rx_queue_%r_xdp_redirect", .as = "xdp_redirect" },
	{ .name = "rx_queue_%r_xdp_drops", .as = "xdp_drop" },
	{ .name = "rx_queue_%r_xdp_tx", .as = "xdp_tx" },
	{ .name = "tx_queue_%t_xdp_xmit", .as = "tx_xdp" },
	{ .name = "tx_queue_%t_xdp_xmit_errors", .as = "tx_errors" },
	{}
};

const struct driver driver_veth = {
	.name = "veth",
	.help = "virtual Ethernet pair",
	.pool = true,			/* veth_create_page_pool(), with NAPI; since 6.4 */
	.spread = "the sender selects the queue of each packet: set XPS on the peer "
		  "(queues/tx-N/xps_cpus)",
	.rx_ring = 256,			/* VETH_RING_SIZE; 6.1, 6.12, 6.18 */
	.drops_long = true,		/* __dev_forward_skb(); 6.1 to 6.18 */
	.gro_by_ethtool = true,		/* only with TSO off at the sender: veth_xmit() */
	.napi_by_gro = true,		/* veth_set_features(), veth_xdp_set(); 6.1 to 6.18 */
	.gives_back_since = KERNEL(6, 12),	/* veth_xmit(); 6.16, and Debian's 6.12.117 */
	.rx_queue = RX_QUEUE_RAW,	/* the sender's queue, without + 1; 6.18 */
	/* veth_xdp_set(): peer->features without NETIF_F_GSO_SOFTWARE, veth_enable_xdp(). */
	.xdp = "turns TSO off on its peer and NAPI on: this changes what is measured",
	/* The same skb becomes the received packet of the peer. */
	.no_completion = "veth passes a packet to its peer: the driver never completes it",

	.functions = functions,
	.stats = stats,
	.stats_how = "they count only while veth uses NAPI",
	.bytes = { TX_BUFFERS, .rx_more = 14, .rx_some = -14, .tx_some = -14, .when = "xmit",
		   .but = "while it uses NAPI, neither direction has the 14 bytes of Ethernet" },
	.xdp_since = KERNEL(4, 19),
	.xdp_needs = "an MTU that fits a page, unless the program is for fragments",
};
