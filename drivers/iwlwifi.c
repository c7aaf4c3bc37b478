/* SPDX-License-Identifier: GPL-2.0 */
/* iwlwifi, Intel wireless, with mac80211 between it and the stack. */
#include "../lib/driver.h"

/*
 * Packets complete by consume_skb in ieee80211_tx_status_ext() (6.12), after the acknowledgement.
 * Before the hardware has them they wait in mac80211's own fq_codel: the latency includes that.
 */
const struct driver driver_iwlwifi = {
	.name = "iwlwifi",
	.help = "Intel wireless",
	.no_pool = true,		/* up to 6.12 */
	.rx_queue = RX_QUEUE_BY_NAPI,	/* mac80211 records none; 6.1, 6.12 */
	.no_xdp = true,		/* no ndo_bpf */
	/* queue_name(): "…:default_queue" and "…:exception" besides; 6.1, 6.12 */
	.irqs = { "iwlwifi:queue_%r" },
	/* napi->dev is a dummy device of its own, with no index; 6.1, 6.12 */
	.no_napi = "iwlwifi polls for the card: no poll says for which interface on it",
};
