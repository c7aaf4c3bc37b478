/* SPDX-License-Identifier: GPL-2.0 */
/* Whether receiving is at its limit: packets lost for lack of CPU time or room, full CPUs. */
#ifndef NICPROBE_PRESSURE_H
#define NICPROBE_PRESSURE_H

#include "findings/evidence.h"

struct pressure {
	bool pressed;		/* the backlog overflows, or a CPU is at its limit */
	int queue;		/* the receive queue with the most packets; -1: unknown */
	int cpu;		/* the full CPU; -1: none, or unknown */
	unsigned queues;	/* that carry a hundredth of the packets or more */
	uint64_t card;		/* packets that found no room in the card or its ring */
	uint64_t backlog;	/* packets that found the backlog of their CPU full */
	uint64_t lost;		/* both */
};

struct pressure pressure_of(const struct evidence *);

/* Packets that found no room in the card or its ring, and *queue: the worst, or -1. */
uint64_t ring_losses(const struct evidence *, int *queue);
/* Packets that found the backlog of their CPU full. */
uint64_t backlog_losses(const struct evidence *);

#endif
