/* SPDX-License-Identifier: GPL-2.0 */
/* mlx5_core, Mellanox and NVIDIA ConnectX-4 and later, and BlueField. */
#include "lib/core/nic_driver.h"

static const struct driver_name functions[] = {
	{ .name = "mlx5_eq_comp_int", .does = DOES_INTERRUPT },
	{ .name = "mlx5e_completion_event", .does = DOES_INTERRUPT },
	{ .name = "mlx5e_napi_poll", .does = DOES_POLL },
	{ .name = "mlx5e_xmit", .does = DOES_TRANSMIT },
	{ .name = "mlx5e_sq_xmit_wqe", .does = DOES_TRANSMIT, .until = KERNEL(6, 1) },
	{ .name = "mlx5e_poll_tx_cq", .does = DOES_COMPLETE },
	{ .name = "mlx5e_consume_skb", .does = DOES_COMPLETE },
	{ .name = "mlx5e_poll_rx_cq", .does = DOES_RECEIVE },
	{ .name = "mlx5e_handle_rx_cqe", .does = DOES_RECEIVE },
	{ .name = "mlx5e_handle_rx_cqe_mpwrq", .does = DOES_RECEIVE },
	{ .name = "mlx5e_build_rx_skb", .does = DOES_RECEIVE, .until = KERNEL(6, 12) },
	{ .name = "mlx5e_post_rx_wqes", .does = DOES_REFILL },
	{ .name = "mlx5e_post_rx_mpwqes", .does = DOES_REFILL },
	{ .name = "mlx5e_xdp", .does = DOES_XDP },
	{ .name = "mlx5e_xdp_handle", .does = DOES_XDP },
	{ .name = "mlx5e_poll_xdpsq_cq", .does = DOES_XDP },
	{ .name = "mlx5e_tx_timeout", .does = DOES_TIMEOUT },
	{}
};

static const struct driver_name tracepoints[] = {
	{ .name = "mlx5_fw", .does = DOES_OTHER },
	{ .name = "mlx5_cmd", .does = DOES_OTHER },
	{}
};

static const struct driver_stat stats[] = {
	{ .name = "tx%t_packets", .as = "tx_packets" },
	{ .name = "tx%t_bytes", .as = "tx_bytes" },
	{ .name = "tx%t_stopped", .as = "tx_stop" },
	{ .name = "tx%t_wake", .as = "tx_wake" },
	{ .name = "tx%t_dropped", .as = "tx_drops" },
	{ .name = "tx%t_cqe_err", .as = "tx_errors" },
	{ .name = "tx%t_recover", .as = "tx_timeouts" },
	{ .name = "tx%t_tso_packets", .as = "tx_merged" },
	{ .name = "rx%r_packets", .as = "rx_packets" },
	{ .name = "rx%r_bytes", .as = "rx_bytes" },
	{ .name = "rx%r_wqe_err", .as = "rx_errors" },
	{ .name = "rx%r_buff_alloc_err", .as = "rx_alloc_fail" },
	{ .name = "rx%r_oversize_pkts_sw_drop", .as = "rx_drops" },
	{ .name = "rx%r_lro_packets", .as = "rx_merged" },
	{ .name = "rx%r_ecn_mark", .as = "rx_ce_marks" },
	{ .name = "rx%r_xdp_drop", .as = "xdp_drop" },
	{ .name = "rx%r_xdp_redirect", .as = "xdp_redirect" },
	{ .name = "rx%r_xdp_tx_xmit", .as = "xdp_tx" },
	{ .name = "tx%t_xdp_xmit", .as = "tx_xdp" },
	{ .name = "ch%r_poll", .as = "polls" },
	{ .name = "ch%r_events", .as = "interrupts" },
	{ .name = "rx_packets_phy", .as = "rx_card_packets" },
	{ .name = "rx_bytes_phy", .as = "rx_card_bytes" },
	{ .name = "tx_packets_phy", .as = "tx_card_packets" },
	{ .name = "tx_bytes_phy", .as = "tx_card_bytes" },
	{ .name = "rx_out_of_buffer", .as = "rx_no_buffer" },
	{ .name = "rx_discards_phy", .as = "rx_missed" },
	{}
};

const struct driver driver_mlx5_core = {
	.name = "mlx5_core",
	.help = "Mellanox and NVIDIA ConnectX",
	.keeps_dev = true,
	.rx_queue = RX_QUEUE_RECORDED,	/* mlx5e_build_rx_skb() */
	/* mlx5e_xdp_set(), 6.1 and 6.12: mlx5e_safe_switch_params() with a reset. */
	.xdp = "reopens all channels; fails while LRO or GRO-HW is on",
	/* irq_set_name(), 6.1 and 6.12: "mlx5_async0@pci:…" serves everything else */
	.irqs = { "mlx5_comp%q@pci:*" },

	.functions = functions,
	.tracepoints = tracepoints,
	.stats = stats,
	.stats_how = "with traffic classes, transmit queue = class * channels + channel",
	.bytes = { TX_WIRE, .tx_least = 60, .rx_more = 14, .rx_wire = true, .when = "xmit",
		   .but = "a packet merged by the card counts as its wire packets" },
	.xdp_since = KERNEL(4, 9),
	.xdp_needs = "LRO and GRO-HW off, and an MTU that fits a page or a program for fragments",
	.completes = "mlx5e_consume_skb(), by NAPI",
};
