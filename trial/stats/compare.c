/* SPDX-License-Identifier: GPL-2.0 */
/* Nonparametric comparison of two settings: an interval that makes no assumption about noise. */
#include <stdlib.h>
#include <string.h>

#include "trial/stats/compare.h"

#define LOOK_FIRST 16		/* pairs: enough to see differences of many figures */

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median_sorted(const double *sorted, unsigned nr)
{
	return nr ? (sorted[(nr - 1) / 2] + sorted[nr / 2]) / 2 : NAN;
}

static double median(const double *values, unsigned nr)
{
	double sorted[ROUNDS_MAX];

	memcpy(sorted, values, nr * sizeof(*values));
	qsort(sorted, nr, sizeof(*sorted), ascending);
	return median_sorted(sorted, nr);
}

static bool all_positive(const double *values, unsigned nr)
{
	while (nr--)
		if (values[nr] <= 0)
			return false;
	return true;
}

/*
 * On a log scale, differences are ratios: noise grows with the measured value. False: not all
 * values are above 0, so they stay.
 */
static bool to_log(double *a, unsigned na, double *b, unsigned nb)
{
	if (!na || !nb || !all_positive(a, na) || !all_positive(b, nb))
		return false;
	for (unsigned i = 0; i < na; i++)
		a[i] = log(a[i]);
	for (unsigned i = 0; i < nb; i++)
		b[i] = log(b[i]);
	return true;
}

/* The interval excludes k - 1 differences at each end (all if k is 0), and is widened. */
static void conclude(struct comparison *c, double *diffs, unsigned nr, unsigned k, double wider)
{
	double at;

	qsort(diffs, nr, sizeof(*diffs), ascending);
	at = median_sorted(diffs, nr);
	c->difference = at;
	c->low = k ? at + (diffs[k - 1] - at) * wider : -INFINITY;
	c->high = k ? at + (diffs[nr - k] - at) * wider : INFINITY;
	c->verdict = !k ? VERDICT_FEW : c->low > 0 || c->high < 0 ? VERDICT_REAL : VERDICT_NONE;
	if (!c->relative)
		return;
	c->difference = 100 * expm1(c->difference);
	c->low = isinf(c->low) ? c->low : 100 * expm1(c->low);
	c->high = 100 * expm1(c->high);
}

static void unknown(struct comparison *c)
{
	c->difference = NAN;
	c->low = -INFINITY;
	c->high = INFINITY;
	c->verdict = VERDICT_FEW;
}

static unsigned finite_only(const double *from, unsigned nr, double *to)
{
	unsigned n = 0;

	for (unsigned i = 0; i < nr && n < ROUNDS_MAX; i++)
		if (isfinite(from[i]))
			to[n++] = from[i];
	return n;
}

/* Medians and numbers of rounds of each side. */
static void sides(struct comparison *c, const double *a, unsigned na, const double *b, unsigned nb)
{
	double finite[ROUNDS_MAX] = {};

	c->rounds_a = finite_only(a, na, finite);
	c->a = median(finite, c->rounds_a);
	c->rounds_b = finite_only(b, nb, finite);
	c->b = median(finite, c->rounds_b);
}

void compare_paired(const double *all_a, const double *all_b, unsigned nr, double alpha,
		    struct comparison *c)
{
	double a[ROUNDS_MAX] = {}, b[ROUNDS_MAX] = {}, *means;
	unsigned n = 0, at = 0;

	for (unsigned i = 0; i < nr && n < ROUNDS_MAX; i++)
		if (isfinite(all_a[i]) && isfinite(all_b[i])) {
			a[n] = all_a[i];
			b[n++] = all_b[i];
		}
	sides(c, all_a, nr, all_b, nr);
	c->relative = to_log(a, n, b, n);
	means = malloc(n * (n + 1) / 2 * sizeof(*means));
	if (!n || !means) {
		free(means);
		unknown(c);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j <= i; j++)
			means[at++] = (b[i] - a[i] + b[j] - a[j]) / 2;
	conclude(c, means, at, exact_signed_rank(n, alpha), 1);
	free(means);
}

/* Ranks relative to their mean: outliers weigh no more than their rank. */
static void ranks(const double *values, unsigned n, double *rank)
{
	for (unsigned i = 0; i < n; i++) {
		rank[i] = 0;
		for (unsigned j = 0; j < n; j++)
			rank[i] += ((values[j] < values[i]) - (values[j] > values[i])) / 2.0;
	}
}

static void add_likeness(const double *values, unsigned n, double *beside, double *all)
{
	double rank[ROUNDS_MAX];

	ranks(values, n, rank);
	for (unsigned i = 0; i < n; i++) {
		*all += rank[i] * rank[i];
		*beside += i ? rank[i] * rank[i - 1] : 0;
	}
}

/*
 * The factor that widens an interval when rounds resemble their predecessors (first-order
 * autocorrelation of ranks, r). An estimate from n values is too low by (1 + 3r) / n and has a
 * standard error of about 1 / sqrt(n): three quarters of the latter are added.
 */
static double likeness_widens(const double *a, unsigned na, const double *b, unsigned nb)
{
	double beside = 0, all = 0, each = (na + nb) / 2.0, r;

	add_likeness(a, na, &beside, &all);
	add_likeness(b, nb, &beside, &all);
	if (all <= 0 || each < 4)
		return 1;
	r = (beside / all + 1 / each) / (1 - 3 / each) + 0.75 / sqrt(na + nb);
	r = r < 0 ? 0 : r > 0.9 ? 0.9 : r;
	return sqrt((1 + r) / (1 - r));
}

void compare_unpaired(const double *all_a, unsigned na, const double *all_b, unsigned nb,
		      double alpha, struct comparison *c)
{
	double a[ROUNDS_MAX] = {}, b[ROUNDS_MAX] = {}, *diffs;
	unsigned at = 0;

	sides(c, all_a, na, all_b, nb);
	na = finite_only(all_a, na, a);
	nb = finite_only(all_b, nb, b);
	c->relative = to_log(a, na, b, nb);
	diffs = malloc((size_t)na * nb * sizeof(*diffs));
	if (!na || !nb || !diffs) {
		free(diffs);
		unknown(c);
		return;
	}
	for (unsigned i = 0; i < na; i++)
		for (unsigned j = 0; j < nb; j++)
			diffs[at++] = b[j] - a[i];
	conclude(c, diffs, at, exact_rank_sum(na, nb, alpha), likeness_widens(a, na, b, nb));
	free(diffs);
}

double comparison_percent(const struct comparison *c, double difference)
{
	if (c->relative || isnan(difference) || difference == 0)
		return difference;
	return c->a == 0 ? copysign(INFINITY, difference) : 100 * difference / fabs(c->a);
}

int comparison_good(const struct comparison *c)
{
	if (c->verdict != VERDICT_REAL || !c->better)
		return 0;
	return (c->difference > 0) == (c->better > 0) ? 1 : -1;
}

/* 16, 23, 32, 45, …: each is 1.4 times the one before. The last is at max. */
unsigned looks_next(const struct looks *l, unsigned pairs)
{
	double at = LOOK_FIRST;

	while (floor(at) <= pairs)
		at *= M_SQRT2;
	return at < l->max ? (unsigned)at : l->max;
}

/* The last look, whenever it is, may spend half of alpha; the earlier ones share the rest. */
double looks_spend(struct looks *l, unsigned pairs, bool last)
{
	unsigned before = 0;
	double share;

	for (unsigned at = looks_next(l, 0); at < l->max; at = looks_next(l, at))
		before++;
	share = last || pairs >= l->max ? TRIAL_ALPHA - l->spent : TRIAL_ALPHA / 2 / before;
	l->spent += share;
	return share;
}
