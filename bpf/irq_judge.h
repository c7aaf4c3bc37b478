/* SPDX-License-Identifier: GPL-2.0 */
/* The figures of the meter irq by their places, and what they mean. */
#ifndef NICPROBE_IRQ_JUDGE_H
#define NICPROBE_IRQ_JUDGE_H

#include "../lib/snapshot.h"

enum {
	IRQ_INTERRUPTS, IRQ_POLLS, IRQ_PACKETS, IRQ_ELSEWHERE, IRQ_UNHANDLED, IRQ_TO_POLL,
	IRQ_HANDLER,
};

void irq_judge(const struct snapshot *, struct findings *);

#endif
