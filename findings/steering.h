/* SPDX-License-Identifier: GPL-2.0 */
/* Where RPS and interrupts send received packets now, and commands that spread them. */
#ifndef NICPROBE_STEERING_H
#define NICPROBE_STEERING_H

#include "findings/evidence.h"
#include "lib/hw/hw.h"
#include "lib/proc/cpus.h"

/* Unites the CPUs in rps_cpus of all receive queues; returns the number of queues with RPS. */
unsigned steered_queues(struct evidence *, struct cpus *all);
/* The number of CPUs in rps_cpus of this queue; 0: RPS is off, or unknown. */
unsigned steered_to(struct evidence *, int queue);

/*
 * The number of threads that poll the interface, the CPUs they may run on together, and their
 * process numbers, " 12 13"; "" if they do not fit.
 */
unsigned poll_threads(struct evidence *, struct cpus *, char *pids, size_t size);

/* Adds a command that lets RPS of one queue, or of all (-1), use every CPU. */
void fix_rps(struct evidence *, struct finding *, int queue);
/*
 * Adds a command that sends each queue's interrupt to a CPU of its own near the card, or, with
 * far_only, only those on other nodes. Falls back to RPS if there are no interrupts.
 */
void fix_irqs(struct evidence *, struct finding *, bool far_only);
/* The effective affinity of a queue's interrupt; if the hardware reports none, its affinity. */
const struct cpus *interrupts_at(const struct hw_line *);

#endif
