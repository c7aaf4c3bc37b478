/* SPDX-License-Identifier: GPL-2.0 */
/* Where RPS and interrupts take received packets now, and the commands that spread them. */
#ifndef NICPROBE_STEERING_H
#define NICPROBE_STEERING_H

#include "findings/evidence.h"
#include "lib/hw/hw.h"
#include "lib/proc/cpus.h"

/* All CPUs that RPS hands packets to, of any receive queue; how many queues it is on for. */
unsigned steered_queues(struct evidence *, struct cpus *all);
/* How many CPUs RPS hands the packets of this queue to; 0: it is off, or not known. */
unsigned steered_to(struct evidence *, int queue);

/* A command that lets RPS of one queue, or of all (-1), use every CPU. */
void fix_rps(struct evidence *, struct finding *, int queue);
/*
 * A command that sends each queue's interrupt to another CPU near to the card, or only those that
 * are far from it now; by RPS where there are no interrupts.
 */
void fix_irqs(struct evidence *, struct finding *, bool far_only);
/* The CPUs that a queue's interrupt goes to; where the hardware does not say, those it may. */
const struct cpus *interrupts_at(const struct hw_line *);

#endif
