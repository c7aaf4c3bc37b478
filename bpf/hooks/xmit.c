/* SPDX-License-Identifier: GPL-2.0 */
/* The tx-stack and tx-nic hooks: plain links. */
#include "lib/core/hook.h"

const struct hook hook_xmit = {
	.name = "xmit",
	.help = "the tracepoints before the qdisc and at the driver's xmit",
	.points = 1 << TX_STACK | 1 << TX_NIC,
	.how = { [TX_STACK] = "tp_btf/net_dev_queue", [TX_NIC] = "tp_btf/net_dev_start_xmit" },
};
