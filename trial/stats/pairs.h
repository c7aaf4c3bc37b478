/* SPDX-License-Identifier: GPL-2.0 */
/* Pairs of rounds of A and B, tested as they come in until the comparison is decided. */
#ifndef NICPROBE_TRIAL_PAIRS_H
#define NICPROBE_TRIAL_PAIRS_H

#include "trial/stats/compare.h"
#include "trial/stats/rounds.h"

struct error;

struct pairs {
	struct rounds *side[2];		/* A and B */
	struct looks looks;
	const char *figure;		/* that decides; NULL: the first that can be better */
	double tolerance;		/* percent: decided if the difference is within it */
	unsigned deciding;		/* index of the deciding figure in the list */
	unsigned nr;			/* figures compared at the last look */
	struct comparison *list;
};

/* `max` pairs, up to ROUNDS_MAX. 0 or -ENOMEM. */
int pairs_start(struct pairs *, unsigned max, struct error *);
void pairs_free(struct pairs *);

/* 0; or -ENOENT with an error message: no such deciding figure. */
int pairs_add(struct pairs *, const struct result *a, const struct result *b, struct error *);
bool pairs_due(const struct pairs *);		/* is it time for a look? */
/*
 * Compares every figure. True: decided, that is, the deciding figure differs, or it differs by no
 * more than the tolerance. The probability that any figure raises a false alarm, or that any
 * interval misses the true value, is at most TRIAL_ALPHA: 80% of it goes to the deciding figure,
 * 10% to the others that can be better, 10% to the rest. `last`: no look will follow.
 */
bool pairs_look(struct pairs *, bool last);

#endif
