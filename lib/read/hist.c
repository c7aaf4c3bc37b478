/* SPDX-License-Identifier: GPL-2.0 */
/* What a histogram says: counts, bounds, percentiles. */
#include <math.h>

#include "lib/read/snapshot.h"

unsigned hist_slots(const struct metric *k)
{
	return k->words - 1;
}

uint64_t hist_count(const struct metric *k, const uint64_t *words)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < hist_slots(k); i++)
		n += words[1 + i];
	return n;
}

/* Where slot i of a log-linear histogram ends; abi.h says how they are cut. */
static double loglin_bound(unsigned slot)
{
	if (!slot)
		return ldexp(1, LOGLIN_MIN);
	return ldexp(1 + (double)((slot - 1) % LOGLIN_STEPS + 1) / LOGLIN_STEPS,
		     LOGLIN_MIN + (slot - 1) / LOGLIN_STEPS);
}

double hist_bound(const struct metric *k, unsigned slot)
{
	if (slot >= hist_slots(k) - 1)
		return INFINITY;
	return k->scale * (k->bounds ? (double)k->bounds[slot] : loglin_bound(slot));
}

double hist_floor(const struct metric *k, unsigned slot)
{
	return slot ? hist_bound(k, slot - 1) : 0;
}

double hist_percentile(const struct metric *k, const uint64_t *words, double p)
{
	uint64_t count = hist_count(k, words), seen = 0;
	double rank = p * count;
	unsigned i = 0;

	if (!count)
		return NAN;
	while (i < hist_slots(k) - 1 && seen + words[1 + i] < rank)
		seen += words[1 + i++];
	if (isinf(hist_bound(k, i)) || !words[1 + i])
		return hist_floor(k, i);
	if (k->steps)		/* of how many: there is nothing between two numbers */
		return hist_bound(k, i);
	/* within the slot as if they lay evenly */
	return hist_floor(k, i) +
	       (hist_bound(k, i) - hist_floor(k, i)) * (rank - seen) / words[1 + i];
}

double hist_max(const struct metric *k, const uint64_t *words)
{
	unsigned i = hist_slots(k);

	while (i && !words[i])
		i--;
	if (!i)
		return NAN;
	return isinf(hist_bound(k, i - 1)) ? hist_floor(k, i - 1) : hist_bound(k, i - 1);
}
