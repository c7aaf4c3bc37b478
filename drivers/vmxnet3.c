/* SPDX-License-Identifier: GPL-2.0 */
/* vmxnet3, the NIC of VMware virtual machines. */
#include "lib/core/nic_driver.h"

static const struct driver_name functions[] = {
	{ .name = "vmxnet3_msix_rx", .does = DOES_INTERRUPT },
	{ .name = "vmxnet3_msix_tx", .does = DOES_INTERRUPT },
	{ .name = "vmxnet3_msix_event", .does = DOES_INTERRUPT },
	{ .name = "vmxnet3_intr", .does = DOES_INTERRUPT },
	{ .name = "vmxnet3_poll_rx_only", .does = DOES_POLL },
	{ .name = "vmxnet3_poll", .does = DOES_POLL },
	{ .name = "vmxnet3_xmit_frame", .does = DOES_TRANSMIT },
	{ .name = "vmxnet3_rq_rx_complete", .does = DOES_RECEIVE },
	{ .name = "vmxnet3_rq_alloc_rx_buf", .does = DOES_REFILL },
	{ .name = "vmxnet3_xdp", .does = DOES_XDP, .since = KERNEL(6, 12) },
	{ .name = "vmxnet3_process_xdp", .does = DOES_XDP, .since = KERNEL(6, 12) },
	{ .name = "vmxnet3_run_xdp", .does = DOES_XDP, .since = KERNEL(6, 12) },
	{ .name = "vmxnet3_tx_timeout", .does = DOES_TIMEOUT },
	{}
};

static const struct driver_stat stats[] = {
	{ .name = "  ucast pkts tx", .as = "tx_packets" },
	{ .name = "  mcast pkts tx", .as = "tx_packets" },
	{ .name = "  bcast pkts tx", .as = "tx_packets" },
	{ .name = "  ucast bytes tx", .as = "tx_bytes" },
	{ .name = "  mcast bytes tx", .as = "tx_bytes" },
	{ .name = "  bcast bytes tx", .as = "tx_bytes" },
	{ .name = "  TSO pkts tx", .as = "tx_merged" },
	{ .name = "  pkts tx err", .as = "tx_errors" },
	{ .name = "  pkts tx discard", .as = "tx_drops" },
	{ .name = "  drv dropped tx total", .as = "tx_drops" },
	{ .name = "  ring full", .as = "tx_stop" },
	{ .name = "  pkts linearized", .as = "tx_linearized" },
	{ .name = "  xdp xmit", .as = "tx_xdp", .since = KERNEL(6, 12) },
	{ .name = "tx timeout count", .as = "tx_timeouts" },
	{ .name = "  ucast pkts rx", .as = "rx_packets" },
	{ .name = "  mcast pkts rx", .as = "rx_packets" },
	{ .name = "  bcast pkts rx", .as = "rx_packets" },
	{ .name = "  ucast bytes rx", .as = "rx_bytes" },
	{ .name = "  mcast bytes rx", .as = "rx_bytes" },
	{ .name = "  bcast bytes rx", .as = "rx_bytes" },
	{ .name = "  LRO pkts rx", .as = "rx_merged" },
	{ .name = "  pkts rx OOB", .as = "rx_no_buffer" },
	{ .name = "  pkts rx err", .as = "rx_errors" },
	{ .name = "  drv dropped rx total", .as = "rx_drops" },
	{ .name = "  rx buf alloc fail", .as = "rx_alloc_fail" },
	{ .name = "     xdp packets", .as = "xdp_packets", .since = KERNEL(6, 12) },
	{ .name = "     xdp tx", .as = "xdp_tx", .since = KERNEL(6, 12) },
	{ .name = "     xdp redirects", .as = "xdp_redirect", .since = KERNEL(6, 12) },
	{ .name = "     xdp drops", .as = "xdp_drop", .since = KERNEL(6, 12) },
	{ .name = "     xdp aborted", .as = "xdp_aborted", .since = KERNEL(6, 12) },
	{}
};

/*
 * Completions appear as kfree_skb with NOT_SPECIFIED: vmxnet3_unmap_pkt() calls
 * dev_kfree_skb_any(). They are not drops (6.1, 6.12).
 */
const struct driver driver_vmxnet3 = {
	.name = "vmxnet3",
	.help = "VMware virtual NIC",
	.keeps_dev = true,
	.kfree_completes = true,
	.rx_queue = RX_QUEUE_RECORDED,	/* except after XDP_PASS: vmxnet3_xdp.c, 6.12 */
	/* vmxnet3_xdp_set(), 6.12: vmxnet3_quiesce_dev(), no NETIF_F_LRO. 6.1 has no native XDP. */
	.xdp = "resets the device and turns LRO off: this changes what is measured",
	/* vmxnet3_request_irqs(), 6.1 and 6.12 */
	.irqs = { "%i-rxtx-%q", "%i-rx-%r", "%i-tx-%t" },

	.functions = functions,
	.stats = stats,
	.stats_how = "\"Tx Queue#\" and \"Rx Queue#\" give the queue of the values that follow",
	.bytes = { TX_BUFFERS, .rx_more = 14, .when = "reading",
		   .but = "the device counts a merged or segmented packet as one" },
	.xdp_since = KERNEL(6, 6),
	.xdp_needs = "LRO off, which attaching does, and an MTU that fits a receive buffer",
	.completes = "by NAPI, or in a separate hard interrupt",
};
