/* SPDX-License-Identifier: GPL-2.0 */
/* The rx-stack hook where tc does not work: one link. */
#include "lib/core/hook.h"
#include "stack_rx.skel.h"

static const char *avoid(const struct site *site)
{
	return site->driver->no_receive;
}

const struct hook hook_stack_rx = {
	.name = "stack",
	.help = "the tracepoint at which the stack receives a packet, after GRO and RPS",
	.points = 1 << RX_STACK,
	.avoid = avoid,
	.program = { [RX_STACK] = "rx_stack" },
	.prefix = { [RX_STACK] = "rx_stack" },
	.elf = stack_rx_bpf__elf_bytes,
};
