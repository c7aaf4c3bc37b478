/* SPDX-License-Identifier: GPL-2.0 */
/* iwlwifi, Intel wireless, with mac80211 between it and the stack. */
#include "lib/core/nic_driver.h"

static const struct driver_name functions[] = {
	{ .name = "iwl_pcie_msix_isr", .does = DOES_INTERRUPT },
	{ .name = "iwl_pcie_isr", .does = DOES_INTERRUPT },
	{ .name = "iwl_pcie_irq_rx_msix_handler", .does = DOES_INTERRUPT },
	{ .name = "iwl_pcie_irq_msix_handler", .does = DOES_INTERRUPT },
	{ .name = "iwl_pcie_irq_handler", .does = DOES_INTERRUPT },
	{ .name = "iwl_pcie_napi_poll", .does = DOES_POLL },
	{ .name = "iwl_pcie_napi_poll_msix", .does = DOES_POLL },
	{ .name = "iwl_trans_pcie_tx", .does = DOES_TRANSMIT },
	{ .name = "iwl_txq_gen2_tx", .does = DOES_TRANSMIT },
	{ .name = "iwl_mvm_mac_tx", .does = DOES_TRANSMIT, .module = "iwlmvm" },
	{ .name = "iwl_mvm_mac_itxq_xmit", .does = DOES_TRANSMIT, .module = "iwlmvm" },
	{ .name = "iwlagn_tx_skb", .does = DOES_TRANSMIT, .module = "iwldvm" },
	{ .name = "ieee80211_subif_start_xmit", .does = DOES_TRANSMIT, .module = "mac80211" },
	{ .name = "ieee80211_subif_start_xmit_8023", .does = DOES_TRANSMIT, .module = "mac80211" },
	{ .name = "ieee80211_tx_dequeue", .does = DOES_TRANSMIT, .module = "mac80211" },
	{ .name = "iwl_txq_reclaim", .does = DOES_COMPLETE, .until = KERNEL(6, 1) },
	{ .name = "iwl_pcie_reclaim", .does = DOES_COMPLETE, .since = KERNEL(6, 12) },
	{ .name = "iwl_trans_reclaim", .does = DOES_COMPLETE, .since = KERNEL(6, 12) },
	{ .name = "iwl_mvm_rx_tx_cmd", .does = DOES_COMPLETE, .module = "iwlmvm" },
	{ .name = "iwl_mvm_rx_ba_notif", .does = DOES_COMPLETE, .module = "iwlmvm" },
	{ .name = "iwl_mvm_tx_reclaim", .does = DOES_COMPLETE, .module = "iwlmvm" },
	{ .name = "iwlagn_rx_reply_tx", .does = DOES_COMPLETE, .module = "iwldvm" },
	{ .name = "ieee80211_tx_status_ext", .does = DOES_COMPLETE, .module = "mac80211" },
	{ .name = "ieee80211_free_txskb", .does = DOES_COMPLETE, .module = "mac80211" },
	{ .name = "ieee80211_tx_status", .does = DOES_COMPLETE, .until = KERNEL(6, 1),
	  .module = "mac80211" },
	{ .name = "ieee80211_tx_status_skb", .does = DOES_COMPLETE, .since = KERNEL(6, 12),
	  .module = "mac80211" },
	{ .name = "iwl_pcie_rx_handle", .does = DOES_RECEIVE },
	{ .name = "iwl_mvm_rx_mpdu_mq", .does = DOES_RECEIVE, .module = "iwlmvm" },
	{ .name = "iwl_mvm_rx_mq", .does = DOES_RECEIVE, .module = "iwlmvm" },
	{ .name = "iwlagn_rx_reply_rx", .does = DOES_RECEIVE, .module = "iwldvm" },
	{ .name = "ieee80211_rx_napi", .does = DOES_RECEIVE, .module = "mac80211" },
	{ .name = "ieee80211_rx_list", .does = DOES_RECEIVE, .module = "mac80211" },
	{ .name = "iwl_pcie_rxq_restock", .does = DOES_REFILL },
	{ .name = "iwl_pcie_rxq_alloc_rbs", .does = DOES_REFILL },
	{ .name = "iwl_mvm_mac_hw_scan", .does = DOES_SCAN, .module = "iwlmvm" },
	{ .name = "iwl_mvm_reg_scan_start", .does = DOES_SCAN, .module = "iwlmvm" },
	{ .name = "iwl_mvm_rx_umac_scan_complete_notif", .does = DOES_SCAN, .module = "iwlmvm" },
	{ .name = "iwl_mvm_rx_umac_scan_iter_complete_notif", .does = DOES_SCAN,
	  .module = "iwlmvm" },
	{ .name = "iwl_mvm_mac_cancel_hw_scan", .does = DOES_SCAN, .module = "iwlmvm" },
	{ .name = "ieee80211_request_scan", .does = DOES_SCAN, .module = "mac80211" },
	{ .name = "__ieee80211_start_scan", .does = DOES_SCAN, .module = "mac80211" },
	{ .name = "ieee80211_scan_work", .does = DOES_SCAN, .module = "mac80211" },
	{ .name = "ieee80211_scan_completed", .does = DOES_SCAN, .module = "mac80211" },
	{ .name = "nl80211_trigger_scan", .does = DOES_SCAN, .module = "cfg80211" },
	{ .name = "cfg80211_scan", .does = DOES_SCAN, .module = "cfg80211" },
	{ .name = "cfg80211_scan_done", .does = DOES_SCAN, .module = "cfg80211" },
	{ .name = "___cfg80211_scan_done", .does = DOES_SCAN, .module = "cfg80211" },
	{ .name = "cfg80211_inform_bss_frame_data", .does = DOES_SCAN, .module = "cfg80211" },
	{}
};

static const struct driver_name tracepoints[] = {
	{ .name = "iwlwifi_dev_tx", .does = DOES_TRANSMIT, .since = KERNEL(6, 12) },
	{ .name = "iwlwifi_dev_tx_tb", .does = DOES_TRANSMIT, .since = KERNEL(6, 12) },
	{ .name = "iwlwifi_dev_rx", .does = DOES_RECEIVE, .since = KERNEL(6, 12) },
	{ .name = "iwlwifi_dev_rx_data", .does = DOES_RECEIVE, .since = KERNEL(6, 12) },
	{ .name = "iwlwifi_dev_irq", .does = DOES_INTERRUPT, .since = KERNEL(6, 12) },
	{ .name = "iwlwifi_dev_irq_msix", .does = DOES_INTERRUPT, .since = KERNEL(6, 12) },
	{ .name = "iwlwifi_err", .does = DOES_OTHER, .since = KERNEL(6, 12) },
	{ .name = "iwlwifi_warn", .does = DOES_OTHER, .since = KERNEL(6, 12) },
	{ .name = "drv_wake_tx_queue", .does = DOES_TRANSMIT, .module = "mac80211" },
	{ .name = "stop_queue", .does = DOES_TRANSMIT, .module = "mac80211" },
	{ .name = "wake_queue", .does = DOES_TRANSMIT, .module = "mac80211" },
	{ .name = "drv_hw_scan", .does = DOES_SCAN, .module = "mac80211" },
	{ .name = "drv_cancel_hw_scan", .does = DOES_SCAN, .module = "mac80211" },
	{ .name = "drv_sw_scan_start", .does = DOES_SCAN, .module = "mac80211" },
	{ .name = "drv_sw_scan_complete", .does = DOES_SCAN, .module = "mac80211" },
	{ .name = "api_scan_completed", .does = DOES_SCAN, .module = "mac80211" },
	{ .name = "rdev_scan", .does = DOES_SCAN, .module = "cfg80211" },
	{ .name = "rdev_abort_scan", .does = DOES_SCAN, .module = "cfg80211" },
	{ .name = "rdev_return_int", .does = DOES_SCAN, .module = "cfg80211" },
	{ .name = "cfg80211_scan_done", .does = DOES_SCAN, .module = "cfg80211" },
	{ .name = "cfg80211_inform_bss_frame", .does = DOES_SCAN, .module = "cfg80211" },
	{ .name = "rdev_inform_bss", .does = DOES_SCAN, .since = KERNEL(6, 12),
	  .module = "cfg80211" },
	{}
};

/*
 * Packets complete by consume_skb in ieee80211_tx_status_ext() (6.12), after the acknowledgement.
 * The latency includes their wait in mac80211's fq_codel before the hardware.
 */
const struct driver driver_iwlwifi = {
	.name = "iwlwifi",
	.help = "Intel wireless",
	.no_pool = true,		/* up to 6.12 */
	.rx_queue = RX_QUEUE_BY_NAPI,	/* mac80211 records none; 6.1, 6.12 */
	.no_xdp = true,		/* no ndo_bpf */
	/* queue_name(): also "…:default_queue" and "…:exception"; 6.1, 6.12 */
	.irqs = { "iwlwifi:queue_%r" },
	.irqs_how = "iwlwifi:default_queue is receive queue 0; with few vectors one serves all",
	/* napi->dev is a dummy device without an ifindex; 6.1, 6.12 */
	.no_napi = "iwlwifi's NAPI belongs to the card, not to an interface",

	.functions = functions,
	.tracepoints = tracepoints,
	.bytes = { TX_BUFFERS, .rx_more = 14, .when = "xmit",
		   .but = "sent bytes are those on air, or those before the header is built" },
	.completes = "ieee80211_tx_status_ext() in mac80211, after the acknowledgement",
};
