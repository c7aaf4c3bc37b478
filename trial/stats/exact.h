/* SPDX-License-Identifier: GPL-2.0 */
/* What two rank sums would be by chance alone: exactly, for the few values that a trial has. */
#ifndef NICPROBE_TRIAL_EXACT_H
#define NICPROBE_TRIAL_EXACT_H

#define ROUNDS_MAX 128		/* values of one figure: tables grow with the cube of it */

/*
 * How many of the sorted numbers of an interval may be left out at each end: the greatest k for
 * which chance leaves the true value outside of numbers k … N + 1 - k (from 1) at most that often.
 * 0: there are too few values to say anything that certain, or no memory.
 */
unsigned exact_signed_rank(unsigned n, double alpha);		/* of n (n + 1) / 2 means of two */
unsigned exact_rank_sum(unsigned n, unsigned m, double alpha);	/* of n * m differences */

#endif
