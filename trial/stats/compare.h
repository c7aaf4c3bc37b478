/* SPDX-License-Identifier: GPL-2.0 */
/* Do two settings differ, in one number? An interval that holds whatever the noise is like. */
#ifndef NICPROBE_TRIAL_COMPARE_H
#define NICPROBE_TRIAL_COMPARE_H

#include <stdbool.h>
#include <stdio.h>

#include "trial/stats/exact.h"
#include "trial/stats/trial.h"

#define TRIAL_ALPHA 0.05	/* how often a trial may see a difference where there is none */

enum verdict {
	VERDICT_FEW,		/* not enough rounds to say anything that certain */
	VERDICT_NONE,		/* no difference: the interval has 0, and says what could hide */
	VERDICT_REAL,
};

/* One figure under A and under B. */
struct comparison {
	char name[sizeof(((struct figure *)0)->name)];
	const char *unit;
	int better;
	unsigned rounds_a, rounds_b;	/* that had it */
	double a, b;			/* medians; NAN: none had it */
	bool relative;			/* difference, low, high: percent of A; else in its unit */
	double difference, low, high;	/* B above A; bounds are infinite where rounds are few */
	enum verdict verdict;
};

/*
 * Round i of A was beside round i of B, in random order. Under that lottery a difference of two
 * that do not differ is as likely above 0 as below, however the machine drifts: Wilcoxon's signed
 * rank, exactly, and the interval that it makes (Hodges and Lehmann), of the logarithms where all
 * values are above 0. Values that are not finite leave out their pair. nr <= ROUNDS_MAX.
 * In as many as `alpha` of all trials, the interval may miss what is true.
 */
void compare_paired(const double *a, const double *b, unsigned nr, double alpha,
		    struct comparison *);

/*
 * Rounds of two occasions, in the order in which they were run: the rank sum of Mann and Whitney;
 * wider by as much as neighbours are alike, as such rounds say less than their number.
 */
void compare_unpaired(const double *a, unsigned na, const double *b, unsigned nb,
		      double alpha, struct comparison *);

/* The difference in percent of A whatever the scale; infinite: from nothing to something. */
double comparison_percent(const struct comparison *, double difference);
/* 1: B is better, -1: worse, 0: it is not known to differ, or nobody minds. */
int comparison_good(const struct comparison *);

/*
 * When to look whether a trial is decided, and what each look may cost: looks share the chance of
 * a false alarm, so that all of them together have no more than one would have.
 */
struct looks {
	unsigned max;			/* pairs */
	double spent;			/* of TRIAL_ALPHA */
};
unsigned looks_next(const struct looks *, unsigned pairs);	/* when, after so many */
double looks_spend(struct looks *, unsigned pairs, bool last);	/* what this one may cost */

#endif
