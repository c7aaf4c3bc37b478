/* SPDX-License-Identifier: GPL-2.0 */
/* The rx-stack hook where tc does not work: one link. */
#include "lib/core/hook.h"

static const char *avoid(const struct site *site)
{
	return site->driver->no_receive;
}

const struct hook hook_stack_rx = {
	.name = "stack",
	.help = "the tracepoint at which the stack receives a packet, after GRO and RPS",
	.points = 1 << RX_STACK,
	.avoid = avoid,
	.how = { [RX_STACK] = "tp_btf/netif_receive_skb" },
};
