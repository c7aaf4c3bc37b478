/* SPDX-License-Identifier: GPL-2.0 */
/* Statistics that several drivers name alike. */
#ifndef NICPROBE_DRIVERS_SHARED_H
#define NICPROBE_DRIVERS_SHARED_H

/* Packets and bytes of each queue: "tx_queue_%t_" and "rx_queue_%r_", "tx-%t." and "rx-%r.". */
#define STATS_PER_QUEUE(tx, rx) \
	{ .name = tx "packets", .as = "tx_packets" }, \
	{ .name = tx "bytes", .as = "tx_bytes" }, \
	{ .name = rx "packets", .as = "rx_packets" }, \
	{ .name = rx "bytes", .as = "rx_bytes" }

/* What the card counted, whatever the destination: "port." before the names, ".nic" after them. */
#define STATS_OF_CARD(before, after) \
	{ .name = before "tx_unicast" after, .as = "tx_card_packets" }, \
	{ .name = before "tx_multicast" after, .as = "tx_card_packets" }, \
	{ .name = before "tx_broadcast" after, .as = "tx_card_packets" }, \
	{ .name = before "tx_bytes" after, .as = "tx_card_bytes" }, \
	{ .name = before "rx_unicast" after, .as = "rx_card_packets" }, \
	{ .name = before "rx_multicast" after, .as = "rx_card_packets" }, \
	{ .name = before "rx_broadcast" after, .as = "rx_card_packets" }, \
	{ .name = before "rx_bytes" after, .as = "rx_card_bytes" }

/* Those of e1000_gstrings_stats that both e1000 and e1000e have. */
#define STATS_OF_E1000 \
	{ .name = "tx_packets", .as = "tx_card_packets" }, \
	{ .name = "tx_bytes", .as = "tx_card_bytes" }, \
	{ .name = "tx_restart_queue", .as = "tx_wake" }, \
	{ .name = "tx_timeout_count", .as = "tx_timeouts" }, \
	{ .name = "rx_packets", .as = "rx_card_packets" }, \
	{ .name = "rx_bytes", .as = "rx_card_bytes" }, \
	{ .name = "rx_csum_offload_errors", .as = "rx_csum_errors" }, \
	{ .name = "alloc_rx_buff_failed", .as = "rx_alloc_fail" }, \
	{ .name = "tx_errors", .as = "tx_errors" }, \
	{ .name = "rx_errors", .as = "rx_errors" }, \
	{ .name = "rx_no_buffer_count", .as = "rx_no_buffer" }, \
	{ .name = "rx_missed_errors", .as = "rx_missed" }, \
	{ .name = "tx_tcp_seg_good", .as = "tx_merged" }

#endif
