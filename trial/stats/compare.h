/* SPDX-License-Identifier: GPL-2.0 */
/* Nonparametric comparison of two settings: an interval that makes no assumption about noise. */
#ifndef NICPROBE_TRIAL_COMPARE_H
#define NICPROBE_TRIAL_COMPARE_H

#include <stdbool.h>
#include <stdio.h>

#include "trial/stats/exact.h"
#include "trial/stats/trial.h"

#define TRIAL_ALPHA 0.05	/* probability of a false alarm per trial */

enum verdict {
	VERDICT_FEW,		/* not enough rounds for this confidence */
	VERDICT_NONE,		/* no difference: the interval includes 0 */
	VERDICT_REAL,
	NR_VERDICTS
};

/* One figure under A and under B. */
struct comparison {
	char name[sizeof(((struct bench_figure *)0)->name)];
	const char *unit;
	int better;
	unsigned rounds_a, rounds_b;	/* that measured it */
	double a, b;			/* medians; NAN: not measured */
	bool relative;			/* difference, low, high: percent of A; else in `unit` */
	double difference, low, high;	/* B above A; the bounds are infinite with few rounds */
	enum verdict verdict;
};

/*
 * Paired rounds: round i of A ran next to round i of B, in random order. So if A and B are equal,
 * differences above and below 0 are equally likely, however the machine drifts. Uses Wilcoxon's
 * exact signed rank test and its interval (Hodges and Lehmann), of logarithms if all values are
 * above 0. Pairs with a value that is not finite are left out. nr <= ROUNDS_MAX.
 * The interval misses the true value in at most `alpha` of all trials.
 */
void compare_paired(const double *a, const double *b, unsigned nr, double alpha,
		    struct comparison *);

/*
 * Rounds of two occasions, each in the order in which they were run: Mann and Whitney's rank sum
 * test. The interval is widened if consecutive rounds are correlated.
 */
void compare_unpaired(const double *a, unsigned na, const double *b, unsigned nb,
		      double alpha, struct comparison *);

/* The difference in percent of A on either scale; infinite if A is 0. */
double comparison_percent(const struct comparison *, double difference);
/* 1: B is better; -1: worse; 0: no known difference, or the figure has no better or worse. */
int comparison_good(const struct comparison *);

/*
 * When to check whether a trial is decided, and how much alpha each look may spend, so that all
 * looks together cause no more false alarms than a single one.
 */
struct looks {
	unsigned max;			/* pairs */
	double spent;			/* of TRIAL_ALPHA */
};
unsigned looks_next(const struct looks *, unsigned pairs);	/* the next look after `pairs` */
double looks_spend(struct looks *, unsigned pairs, bool last);	/* alpha of this look */

#endif
