/* SPDX-License-Identifier: GPL-2.0 */
/* ena, the NIC of Amazon EC2 instances. */
#include "lib/core/nic_driver.h"

static const struct driver_name functions[] = {
	{ .name = "ena_intr_msix_io", .does = DOES_INTERRUPT },
	{ .name = "ena_intr_msix_mgmnt", .does = DOES_INTERRUPT },
	{ .name = "ena_io_poll", .does = DOES_POLL },
	{ .name = "ena_xdp_io_poll", .does = DOES_POLL },
	{ .name = "ena_start_xmit", .does = DOES_TRANSMIT },
	{ .name = "ena_xmit_common", .does = DOES_TRANSMIT },
	{ .name = "ena_refill_rx_bufs", .does = DOES_REFILL },
	{ .name = "ena_xdp", .does = DOES_XDP },
	{ .name = "ena_xdp_xmit", .does = DOES_XDP },
	{ .name = "ena_xdp_xmit_frame", .does = DOES_XDP },
	{ .name = "ena_tx_timeout", .does = DOES_TIMEOUT },
	{}
};

static const struct driver_stat stats[] = {
	{ .name = "queue_%t_tx_cnt", .as = "tx_packets" },
	{ .name = "queue_%t_tx_bytes", .as = "tx_bytes" },
	{ .name = "queue_%t_tx_queue_stop", .as = "tx_stop" },
	{ .name = "queue_%t_tx_queue_wakeup", .as = "tx_wake" },
	{ .name = "queue_%t_tx_doorbells", .as = "tx_doorbells" },
	{ .name = "queue_%t_tx_dma_mapping_err", .as = "tx_dma_fail" },
	{ .name = "queue_%t_tx_prepare_ctx_err", .as = "tx_errors" },
	{ .name = "queue_%t_tx_linearize", .as = "tx_linearized" },
	/* check_missing_comp_in_tx_queue(), 6.1 and 6.12: counts a packet again on each check */
	{ .name = "queue_%t_tx_missed_tx", .as = "tx_missed" },
	{ .name = "queue_%t_tx_tx_poll", .as = "polls" },
	{ .name = "queue_%r_rx_cnt", .as = "rx_packets" },
	{ .name = "queue_%r_rx_bytes", .as = "rx_bytes" },
	{ .name = "queue_%r_rx_page_alloc_fail", .as = "rx_alloc_fail" },
	{ .name = "queue_%r_rx_skb_alloc_fail", .as = "rx_alloc_fail" },
	{ .name = "queue_%r_rx_refil_partial", .as = "rx_alloc_fail" },
	{ .name = "queue_%r_rx_empty_rx_ring", .as = "rx_ring_empty" },
	{ .name = "queue_%r_rx_csum_bad", .as = "rx_csum_errors" },
	{ .name = "queue_%r_rx_bad_desc_num", .as = "rx_errors" },
	{ .name = "queue_%r_rx_xdp_pass", .as = "xdp_pass" },
	{ .name = "queue_%r_rx_xdp_drop", .as = "xdp_drop" },
	{ .name = "queue_%r_rx_xdp_tx", .as = "xdp_tx" },
	{ .name = "queue_%r_rx_xdp_redirect", .as = "xdp_redirect" },
	{ .name = "queue_%r_rx_xdp_aborted", .as = "xdp_aborted" },
	{ .name = "tx_timeout", .as = "tx_timeouts" },
	/* ena_up() recreates the queues, which hold the counters: 6.1 and 6.12 */
	{ .name = "interface_up", .as = "restarts" },
	{ .name = "bw_in_allowance_exceeded", .as = "over_bw_in" },
	{ .name = "bw_out_allowance_exceeded", .as = "over_bw_out" },
	{ .name = "pps_allowance_exceeded", .as = "over_pps" },
	{ .name = "conntrack_allowance_exceeded", .as = "over_conntrack" },
	{ .name = "conntrack_allowance_available", .as = "conntrack_left",
	  .level = true, .since = KERNEL(6, 12) },
	{ .name = "linklocal_allowance_exceeded", .as = "over_linklocal" },
	{}
};

const struct driver driver_ena = {
	.name = "ena",
	.help = "Amazon Elastic Network Adapter",
	.no_pool = true,		/* up to 6.12 */
	.keeps_dev = true,
	/*
	 * ena_get_stats64(), 6.1 and 6.12: rx_dropped comes from the card's keep-alive events. It
	 * counts drops for lack of buffers, according to Amazon's DPDK driver (ena_keep_alive()).
	 */
	.drops_are_the_card = true,
	.rx_queue = RX_QUEUE_RECORDED,	/* ena_clean_rx_irq() */
	/*
	 * ena_xdp_set(), 6.1 and 6.12: ena_down(), ena_up(). 3498: ENA_XDP_MAX_MTU, 4 KiB pages.
	 * It needs twice the queues, so it fails with more than half of the channels in use.
	 * After XDP, with more queues, 6.1 warns in ena_del_napi_in_range() on every close.
	 */
	.xdp = "resets the queues; fails with an MTU above 3498",
	/* ena_setup_io_intr(); also "ena-mgmnt@pci:…"; 6.1 and 6.12 */
	.irqs = { "%i-Tx-Rx-%q" },

	.functions = functions,
	.stats = stats,
	.bytes = { TX_BUFFERS, .when = "xmit",
		   .but = "Amazon's out-of-tree ena counts 14 more per received packet" },
	.xdp_since = KERNEL(5, 6),
	.xdp_needs = "an MTU of at most 3498, and no more than half of the channels in use",
	.xdp_halves = true,
	.completes = "ena_io_poll(), by NAPI",
};
