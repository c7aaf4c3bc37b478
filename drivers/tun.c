/* SPDX-License-Identifier: GPL-2.0 */
/* tun, TUN and TAP interfaces, with a user program at the other end. */
#include "lib/core/nic_driver.h"

static const struct driver_name functions[] = {
	{ .name = "tun_napi_poll", .does = DOES_POLL },
	{ .name = "tun_net_xmit", .does = DOES_TRANSMIT },
	{ .name = "tun_do_read", .does = DOES_COMPLETE },
	{ .name = "tun_recvmsg", .does = DOES_COMPLETE },
	{ .name = "tun_get_user", .does = DOES_RECEIVE },
	{ .name = "tun_sendmsg", .does = DOES_RECEIVE },
	{ .name = "tun_xdp", .does = DOES_XDP },
	{}
};

/*
 * Attaching XDP to a TAP swaps a pointer (tun_xdp_set()) and disturbs nothing. A TUN has no ndo_bpf
 * and no Ethernet header, so iface.mac has length 0. Packets complete when the user program reads
 * them (tun_do_read()): the latency is the program's.
 */
const struct driver driver_tun = {
	.name = "tun",
	.help = "TUN or TAP, with a program at the other end",
	.spread = "the program behind it selects the queue of each packet",
	.late = "the program behind it reads late: does it get enough CPU? ps -eo pcpu,pid,comm "
		"--sort -pcpu; does it use a thread per queue?",
	.keeps_dev = true,
	/* tun_do_read() by consume_skb(), all others by kfree_skb(); 6.1, 6.12 */
	.frees_in_tasks = true,
	/* tun_net_xmit(); 6.1, 6.12. In 2026 it learned to stop its queues. */
	.takes_all_before = KERNEL(7, 0),
	.rx_queue = RX_QUEUE_RECORDED,	/* tfile->queue_index; 6.1, 6.12 */
	.napi_by_opener = true,		/* tun_napi_init(), with IFF_NAPI; 6.1 to 6.18 */

	.functions = functions,
	.bytes = { TX_BUFFERS, .rx_more = 14, .tx_some = 4 /* a VLAN tag */, .when = "completion",
		   .but = "a TUN has no Ethernet header, so not these 14 bytes" },
	.xdp_since = KERNEL(4, 14),
	.completes = "tun_do_read(), when the program behind it reads",
};
