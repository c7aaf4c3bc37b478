/* SPDX-License-Identifier: GPL-2.0 */
/* hv_netvsc, the NIC of Hyper-V and Azure, often with an mlx5 virtual function below. */
#include "lib/core/nic_driver.h"

static const struct driver_name functions[] = {
	{ .name = "netvsc_channel_cb", .does = DOES_INTERRUPT },
	{ .name = "netvsc_poll", .does = DOES_POLL },
	{ .name = "netvsc_start_xmit", .does = DOES_TRANSMIT },
	{ .name = "netvsc_xmit", .does = DOES_TRANSMIT },
	{ .name = "netvsc_send", .does = DOES_TRANSMIT },
	{ .name = "netvsc_recv_callback", .does = DOES_RECEIVE },
	{ .name = "rndis_filter_receive", .does = DOES_RECEIVE },
	{ .name = "netvsc_vf_handle_frame", .does = DOES_RECEIVE },
	{ .name = "netvsc_bpf", .does = DOES_XDP },
	{ .name = "netvsc_run_xdp", .does = DOES_XDP },
	{}
};

static const struct driver_name tracepoints[] = {
	{ .name = "rndis_send", .does = DOES_TRANSMIT },
	{ .name = "nvsp_send", .does = DOES_TRANSMIT },
	{ .name = "nvsp_send_pkt", .does = DOES_TRANSMIT },
	{ .name = "rndis_recv", .does = DOES_RECEIVE },
	{ .name = "nvsp_recv", .does = DOES_RECEIVE },
	{}
};

static const struct driver_stat stats[] = {
	{ .name = "tx_queue_%t_packets", .as = "tx_packets" },
	{ .name = "tx_queue_%t_bytes", .as = "tx_bytes" },
	{ .name = "tx_queue_%t_xdp_xmit", .as = "tx_xdp" },
	{ .name = "rx_queue_%r_packets", .as = "rx_packets" },
	{ .name = "rx_queue_%r_bytes", .as = "rx_bytes" },
	{ .name = "rx_queue_%r_xdp_drop", .as = "xdp_drop" },
	{ .name = "rx_queue_%r_xdp_redirect", .as = "xdp_redirect" },
	{ .name = "rx_queue_%r_xdp_tx", .as = "xdp_tx" },
	{ .name = "tx_busy", .as = "tx_busy" },
	{ .name = "tx_no_space", .as = "tx_drops" },
	{ .name = "stop_queue", .as = "tx_stop" },
	{ .name = "wake_queue", .as = "tx_wake" },
	{}
};

const struct driver driver_hv_netvsc = {
	.name = "hv_netvsc",
	.help = "Hyper-V and Azure virtual NIC",
	.no_pool = true,		/* up to 6.12 */
	.rx_queue = RX_QUEUE_RECORDED,	/* netvsc_recv_callback(); 6.1, 6.12 */
	/* netvsc_bpf(), 6.1 and 6.12: netvsc_vf_setxdp() attaches it to the VF as well. */
	.xdp = "may reset the virtual function below, which runs it too; fails while LRO is on",
	.irqs_how = "none: VMBus interrupts are shared by all devices on the bus",

	.functions = functions,
	.tracepoints = tracepoints,
	.stats = stats,
	.bytes = { TX_BUFFERS, .rx_more = 14, .rx_some = -14, .when = "completion",
		   .but = "traffic of the virtual function is included, without these 14 bytes" },
	.xdp_since = KERNEL(5, 6),
	.xdp_needs = "LRO off, and an MTU that fits a page",
	.completes = "netvsc_poll(), by NAPI; small, copied packets: when the next one is sent",
};
