/* SPDX-License-Identifier: GPL-2.0 */
/* Exact null distributions of the two rank statistics, for the small samples of a trial. */
#include <stdlib.h>
#include <string.h>

#include "trial/stats/exact.h"

/* Cached: all figures of a trial have the same number of values. */
struct rank_sums {
	double *chance;		/* probability of each sum */
	unsigned n, m, nr;
};

static unsigned quantile(const struct rank_sums *t, double alpha)
{
	double below = 0;
	unsigned k = 0;

	while (k < (t->nr + 1) / 2 && below + t->chance[k] <= alpha / 2)
		below += t->chance[k++];
	return k;
}

static void add_rank(double *chance, unsigned nr, unsigned rank)
{
	for (unsigned sum = nr; sum-- > 0;)
		chance[sum] = chance[sum] / 2 + (sum >= rank ? chance[sum - rank] / 2 : 0);
}

unsigned exact_signed_rank(unsigned n, double alpha)
{
	static struct rank_sums t;

	if (!n || n > ROUNDS_MAX)
		return 0;
	if (!t.chance || t.n != n) {
		free(t.chance);
		t = (struct rank_sums){ .n = n, .nr = n * (n + 1) / 2 + 1 };
		t.chance = calloc(t.nr, sizeof(*t.chance));
		if (!t.chance)
			return 0;
		t.chance[0] = 1;
		for (unsigned rank = 1; rank <= n; rank++)
			add_rank(t.chance, t.nr, rank);
	}
	return quantile(&t, alpha);
}

/*
 * Row j of `rows` has the probabilities of the rank sum for i values of the first sample and j of
 * the second. With probability i / (i + j), the greatest value is of the first sample: then it
 * exceeds all j values of the second.
 */
static void add_value(double *rows, unsigned nr, unsigned i, unsigned m)
{
	for (unsigned j = 1; j <= m; j++) {
		double *row = rows + (size_t)j * nr, *shorter = row - nr;
		double first = (double)i / (i + j), second = 1 - first;

		for (unsigned sum = i * j + 1; sum-- > 0;)
			row[sum] = (sum >= j ? row[sum - j] * first : 0) + shorter[sum] * second;
	}
}

unsigned exact_rank_sum(unsigned n, unsigned m, double alpha)
{
	static struct rank_sums t;

	if (!n || !m || n > ROUNDS_MAX || m > ROUNDS_MAX)
		return 0;
	if (!t.chance || t.n != n || t.m != m) {
		double *rows;

		free(t.chance);
		t = (struct rank_sums){ .n = n, .m = m, .nr = n * m + 1 };
		rows = calloc((size_t)(m + 1) * t.nr, sizeof(*rows));
		t.chance = calloc(t.nr, sizeof(*t.chance));
		for (unsigned j = 0; rows && j <= m; j++)
			rows[(size_t)j * t.nr] = 1;
		for (unsigned i = 1; rows && i <= n; i++)
			add_value(rows, t.nr, i, m);
		if (rows && t.chance)
			memcpy(t.chance, rows + (size_t)m * t.nr, t.nr * sizeof(*rows));
		else
			t.n = 0;
		free(rows);
		if (!t.n)
			return 0;
	}
	return quantile(&t, alpha);
}
