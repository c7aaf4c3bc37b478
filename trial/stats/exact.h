/* SPDX-License-Identifier: GPL-2.0 */
/* Exact null distributions of the two rank statistics, for the small samples of a trial. */
#ifndef NICPROBE_TRIAL_EXACT_H
#define NICPROBE_TRIAL_EXACT_H

#define ROUNDS_MAX 128		/* values per figure: tables grow with its cube */

/*
 * The greatest k such that the interval from the k-th to the (N + 1 - k)-th of the N sorted numbers
 * misses the true value with a probability of at most alpha. 0: too few values, or out of memory.
 */
unsigned exact_signed_rank(unsigned n, double alpha);		/* N = n (n + 1) / 2 pair means */
unsigned exact_rank_sum(unsigned n, unsigned m, double alpha);	/* N = n * m differences */

#endif
