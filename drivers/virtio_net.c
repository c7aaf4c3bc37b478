/* SPDX-License-Identifier: GPL-2.0 */
/* virtio_net, the NIC of most virtual machines. */
#include "lib/core/nic_driver.h"

static const struct driver_name functions[] = {
	{ .name = "skb_recv_done", .does = DOES_INTERRUPT },
	{ .name = "skb_xmit_done", .does = DOES_INTERRUPT },
	{ .name = "virtnet_poll", .does = DOES_POLL },
	{ .name = "virtnet_poll_tx", .does = DOES_POLL },
	{ .name = "start_xmit", .does = DOES_TRANSMIT },
	{ .name = "free_old_xmit_skbs", .does = DOES_COMPLETE, .until = KERNEL(6, 1) },
	{ .name = "free_old_xmit", .does = DOES_COMPLETE, .since = KERNEL(6, 12) },
	{ .name = "__free_old_xmit", .does = DOES_COMPLETE, .since = KERNEL(6, 12) },
	{ .name = "receive_buf", .does = DOES_RECEIVE },
	{ .name = "virtnet_receive_done", .does = DOES_RECEIVE, .since = KERNEL(6, 12) },
	{ .name = "try_fill_recv", .does = DOES_REFILL },
	{ .name = "virtnet_xdp", .does = DOES_XDP },
	{ .name = "virtnet_xdp_xmit", .does = DOES_XDP },
	{ .name = "virtnet_tx_timeout", .does = DOES_TIMEOUT },
	{}
};

static const struct driver_stat stats[] = {
	{ .name = "tx_queue_%t_packets", .as = "tx_packets", .until = KERNEL(6, 1) },
	{ .name = "tx_queue_%t_bytes", .as = "tx_bytes", .until = KERNEL(6, 1) },
	{ .name = "tx_queue_%t_kicks", .as = "tx_doorbells", .until = KERNEL(6, 1) },
	{ .name = "tx_queue_%t_tx_timeouts", .as = "tx_timeouts", .until = KERNEL(6, 1) },
	{ .name = "tx_queue_%t_xdp_tx", .as = "tx_xdp", .until = KERNEL(6, 1) },
	{ .name = "tx_queue_%t_xdp_tx_drops", .as = "tx_drops", .until = KERNEL(6, 1) },
	{ .name = "rx_queue_%r_packets", .as = "rx_packets", .until = KERNEL(6, 1) },
	{ .name = "rx_queue_%r_bytes", .as = "rx_bytes", .until = KERNEL(6, 1) },
	{ .name = "rx_queue_%r_drops", .as = "rx_drops", .until = KERNEL(6, 1) },
	{ .name = "rx_queue_%r_kicks", .as = "rx_doorbells", .until = KERNEL(6, 1) },
	{ .name = "rx_queue_%r_xdp_packets", .as = "xdp_packets", .until = KERNEL(6, 1) },
	{ .name = "rx_queue_%r_xdp_tx", .as = "xdp_tx", .until = KERNEL(6, 1) },
	{ .name = "rx_queue_%r_xdp_redirects", .as = "xdp_redirect", .until = KERNEL(6, 1) },
	{ .name = "rx_queue_%r_xdp_drops", .as = "xdp_drop", .until = KERNEL(6, 1) },
	{ .name = "tx%t_kicks", .as = "tx_doorbells", .since = KERNEL(6, 12) },
	{ .name = "tx%t_tx_timeouts", .as = "tx_timeouts", .since = KERNEL(6, 12) },
	{ .name = "tx%t_xdp_tx", .as = "tx_xdp", .since = KERNEL(6, 12) },
	{ .name = "tx%t_xdp_tx_drops", .as = "tx_drops", .since = KERNEL(6, 12) },
	{ .name = "rx%r_drops", .as = "rx_drops", .since = KERNEL(6, 12) },
	{ .name = "rx%r_kicks", .as = "rx_doorbells", .since = KERNEL(6, 12) },
	{ .name = "rx%r_xdp_packets", .as = "xdp_packets", .since = KERNEL(6, 12) },
	{ .name = "rx%r_xdp_tx", .as = "xdp_tx", .since = KERNEL(6, 12) },
	{ .name = "rx%r_xdp_redirects", .as = "xdp_redirect", .since = KERNEL(6, 12) },
	{ .name = "rx%r_xdp_drops", .as = "xdp_drop", .since = KERNEL(6, 12) },
	{}
};

/*
 * With the module parameter napi_tx=N a packet is freed only when a later one is sent, so the
 * completion latency says nothing about the device (__free_old_xmit(), 6.12).
 */
const struct driver driver_virtio_net = {
	.name = "virtio_net",
	.help = "the NIC of virtual machines",
	.late = "the host is late: does its vhost thread or emulator get enough CPU?",
	.keeps_dev = true,
	.rx_queue = RX_QUEUE_RECORDED,	/* 6.1 receive_buf(), 6.12 virtnet_receive_done() */
	/*
	 * virtnet_xdp_set(): NAPI off and on for every queue, virtnet_clear_guest_offloads(), which
	 * fails if the host does not allow it. It may activate one more queue per CPU.
	 */
	.xdp = "pauses all queues and turns GRO-HW off: this changes what is measured",
	/* vp_find_vqs_msix(): "virtio3-input.0"; 6.1 and 6.12 */
	.irqs = { "*-input.%r", "*-output.%t", "*-virtqueues%a" },

	.functions = functions,
	.stats = stats,
	.stats_how = "6.12 reports packets, bytes, stops and wakes only in netdev-genl (qstats)",
	.bytes = { TX_BUFFERS, .rx_more = 14, .when = "completion" },
	.xdp_since = KERNEL(4, 10),
	/* seen on 6.1: hundreds of pages per second, then "stalled pool shutdown" until reboot */
	.live_harm = "leaks their pages in this kernel, until the next boot",
	.live_harmless = KERNEL(6, 12),
	/* virtnet_xdp_get_sq(): the first XDP queue plus the CPU's number; 6.1, 6.12, 7.3 */
	.xmit_by_cpu = true,
	.xdp_needs = "a host that allows GRO-HW and LRO to be turned off",
	.completes = "virtnet_poll_tx(), virtnet_poll(), or the next start_xmit()",
};
