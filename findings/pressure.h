/* SPDX-License-Identifier: GPL-2.0 */
/* Is receiving at its limit? What is lost for want of time or room, which CPU is full. */
#ifndef NICPROBE_PRESSURE_H
#define NICPROBE_PRESSURE_H

#include "findings/evidence.h"

struct pressure {
	bool pressed;		/* there is harm, or a CPU is at its limit */
	int queue;		/* the receive queue with the most packets; -1: not known */
	int cpu;		/* that is full; -1: none, or not known */
	unsigned queues;	/* that carry a hundredth of the packets or more */
	uint64_t card;		/* packets that found no room in the card or its ring */
	uint64_t backlog;	/* …or in the backlog of their CPU */
	uint64_t lost;		/* both */
};

struct pressure pressure_of(const struct evidence *);

/* Packets that found no room in the card or its ring, as driver or kernel say; the queue. */
uint64_t ring_losses(const struct evidence *, int *queue);
/* Packets that found the backlog of their CPU full. */
uint64_t backlog_losses(const struct evidence *);

#endif
