/* SPDX-License-Identifier: GPL-2.0 */
/* gve, the virtual NIC of Google Compute Engine. */
#include "lib/core/nic_driver.h"

static const struct driver_name functions[] = {
	{ .name = "gve_intr", .does = DOES_INTERRUPT },
	{ .name = "gve_intr_dqo", .does = DOES_INTERRUPT },
	{ .name = "gve_mgmnt_intr", .does = DOES_INTERRUPT },
	{ .name = "gve_napi_poll", .does = DOES_POLL },
	{ .name = "gve_napi_poll_dqo", .does = DOES_POLL },
	{ .name = "gve_start_xmit", .does = DOES_TRANSMIT },
	{ .name = "gve_tx", .does = DOES_TRANSMIT },
	{ .name = "gve_tx_dqo", .does = DOES_TRANSMIT },
	{ .name = "gve_tx_poll", .does = DOES_COMPLETE },
	{ .name = "gve_tx_poll_dqo", .does = DOES_COMPLETE },
	{ .name = "gve_clean_tx_done_dqo", .does = DOES_COMPLETE },
	{ .name = "gve_rx_poll", .does = DOES_RECEIVE },
	{ .name = "gve_rx_poll_dqo", .does = DOES_RECEIVE },
	{ .name = "gve_rx_post_buffers_dqo", .does = DOES_REFILL },
	{ .name = "gve_xdp", .does = DOES_XDP, .since = KERNEL(6, 12) },
	{ .name = "gve_tx_timeout", .does = DOES_TIMEOUT },
	{}
};

static const struct driver_stat stats[] = {
	{ .name = "tx_completed_desc[%t]", .as = "tx_packets" },
	{ .name = "tx_bytes[%t]", .as = "tx_bytes" },
	{ .name = "tx_stop[%t]", .as = "tx_stop" },
	{ .name = "tx_wake[%t]", .as = "tx_wake" },
	{ .name = "tx_xdp_xmit[%t]", .as = "tx_xdp", .since = KERNEL(6, 12) },
	{ .name = "rx_completed_desc[%r]", .as = "rx_packets" },
	{ .name = "rx_bytes[%r]", .as = "rx_bytes" },
	{ .name = "rx_dropped_pkt[%r]", .as = "rx_drops" },
	{ .name = "rx_queue_drop_cnt[%r]", .as = "rx_missed" },
	{ .name = "rx_no_buffers_posted[%r]", .as = "rx_no_buffer" },
	{ .name = "rx_drops_invalid_checksum[%r]", .as = "rx_csum_errors" },
	{ .name = "rx_drops_packet_over_mru[%r]", .as = "rx_errors" },
	{ .name = "rx_xdp_pass[%r]", .as = "xdp_pass", .since = KERNEL(6, 12) },
	{ .name = "rx_xdp_drop[%r]", .as = "xdp_drop", .since = KERNEL(6, 12) },
	{ .name = "rx_xdp_tx[%r]", .as = "xdp_tx", .since = KERNEL(6, 12) },
	{ .name = "rx_xdp_redirect[%r]", .as = "xdp_redirect", .since = KERNEL(6, 12) },
	{ .name = "rx_xdp_aborted[%r]", .as = "xdp_aborted", .since = KERNEL(6, 12) },
	{}
};

const struct driver driver_gve = {
	.name = "gve",
	.help = "Google virtual NIC",
	.keeps_dev = true,
	.rx_queue = RX_QUEUE_RECORDED,	/* 6.1, 6.12 */
	/* gve_set_xdp(), 6.12: gve_turndown(), gve_turnup(). 6.1 has no native XDP. */
	.xdp = "pauses all queues; fails while LRO is on",
	/* gve_alloc_notify_blocks(), gve_rx_idx_to_ntfy(): for every queue, in use or not */
	.irqs = { "%i-ntfy-block.%b", "gve-ntfy-blk%b@pci:*" },
	.irqs_until = { KERNEL(6, 1) },
	.irqs_since = { 0, KERNEL(6, 12) },
	.irqs_how = "the first half serves transmit queues, the second half receive queues",

	.functions = functions,
	.stats = stats,
	.stats_how = "they count descriptors; a packet may use several",
	.bytes = { TX_BUFFERS, .rx_more = 14, .link = true, .when = "completion" },
	.xdp_since = KERNEL(6, 4),
	.xdp_needs = "the queue format GQI-QPL, LRO off, no more than half of the queues in use",
	.xdp_halves = true,
	.completes = "gve_tx_poll(), by NAPI",
};
