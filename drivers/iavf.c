/* SPDX-License-Identifier: GPL-2.0 */
/* iavf, the virtual functions of Intel X710 and E810. */
#include "drivers/shared.h"
#include "lib/core/nic_driver.h"

static const struct driver_name functions[] = {
	{ .name = "iavf_msix_clean_rings", .does = DOES_INTERRUPT },
	{ .name = "iavf_msix_aq", .does = DOES_INTERRUPT },
	{ .name = "iavf_napi_poll", .does = DOES_POLL },
	{ .name = "iavf_xmit_frame", .does = DOES_TRANSMIT },
	{ .name = "iavf_alloc_rx_buffers", .does = DOES_REFILL },
	{ .name = "iavf_tx_timeout", .does = DOES_TIMEOUT },
	{}
};

static const struct driver_name tracepoints[] = {
	{ .name = "iavf_xmit_frame_ring", .does = DOES_TRANSMIT },
	{ .name = "iavf_xmit_frame_ring_drop", .does = DOES_TRANSMIT },
	{ .name = "iavf_clean_tx_irq", .does = DOES_COMPLETE },
	{ .name = "iavf_clean_tx_irq_unmap", .does = DOES_COMPLETE },
	{ .name = "iavf_clean_rx_irq", .does = DOES_RECEIVE },
	{ .name = "iavf_clean_rx_irq_rx", .does = DOES_RECEIVE },
	{}
};

static const struct driver_stat stats[] = {
	STATS_PER_QUEUE("tx-%t.", "rx-%r."),
	{ .name = "rx_discards", .as = "rx_drops" },
	{ .name = "tx_errors", .as = "tx_errors" },
	{}
};

const struct driver driver_iavf = {
	.name = "iavf",
	.help = "Intel adaptive virtual function",
	.keeps_dev = true,
	.rx_queue = RX_QUEUE_RECORDED,	/* iavf_process_skb_fields() */
	.no_xdp = true,			/* no ndo_bpf; 6.1, 6.12 */
	/* iavf_request_traffic_irqs(), 6.1 and 6.12 */
	.irqs = { "iavf-%i-TxRx-%q", "iavf-%i-rx-%r", "iavf-%i-tx-%t" },

	.functions = functions,
	.tracepoints = tracepoints,
	.stats = stats,
	.bytes = { TX_WIRE, .tx_least = 17, .rx_more = 14, .when = "completion",
		   .but = "the interface's counters (ip -s link) come from the PF, every 2 s" },
	.completes = "iavf_napi_poll(), by NAPI",
};
