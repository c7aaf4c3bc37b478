/* SPDX-License-Identifier: GPL-2.0 */
/* The tx-stack and tx-nic hooks: plain links. */
#include "lib/core/hook.h"
#include "xmit.skel.h"

const struct hook hook_xmit = {
	.name = "xmit",
	.help = "the tracepoints before the qdisc and at the driver's xmit",
	.points = 1 << TX_STACK | 1 << TX_NIC,
	.program = { [TX_STACK] = "tx_stack", [TX_NIC] = "tx_nic" },
	.prefix = { [TX_STACK] = "tx_stack", [TX_NIC] = "tx" },	/* and tx_return */
	.elf = xmit_bpf__elf_bytes,
};
