/* SPDX-License-Identifier: GPL-2.0 */
/* Rounds of A beside rounds of B, looked at as they come in, until it is clear what they say. */
#ifndef NICPROBE_TRIAL_PAIRS_H
#define NICPROBE_TRIAL_PAIRS_H

#include "trial/stats/compare.h"
#include "trial/stats/series.h"

struct pairs {
	struct series *side[2];		/* A and B */
	struct looks looks;
	const char *figure;		/* that decides; NULL: the first that can be better */
	double tolerance;		/* percent: a smaller difference is none */
	unsigned deciding;		/* its place in the list */
	unsigned nr;			/* of figures compared, as of the last look */
	struct comparison *list;
};

/* `max` pairs, up to ROUNDS_MAX. 0 or -ENOMEM. */
int pairs_start(struct pairs *, unsigned max);
void pairs_free(struct pairs *);

/* 0; -ENOENT: a complaint, the figure that is to decide is none of them. */
int pairs_add(struct pairs *, const struct result *a, const struct result *b);
bool pairs_due(const struct pairs *);		/* is it time for a look? */
/*
 * Compares every figure. True: decided, the deciding figure differs, or no more than tolerance.
 * All figures together see a difference that is not there in one trial of twenty, at most, and
 * as often all intervals hold: the deciding figure has eight tenths of that, those that can be
 * better share one tenth, the rest the other. `last`: there will be no more.
 */
bool pairs_look(struct pairs *, bool last);

#endif
