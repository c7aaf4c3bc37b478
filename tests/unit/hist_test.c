/* SPDX-License-Identifier: GPL-2.0 */
/* Values lie in the slots that BPF puts them into, as lib/read/hist.c interprets them. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "tests/fuzz/stub/bpf/bpf_helpers.h"	/* instead of libbpf's, which is for BPF only */
#include "lib/core/meter.bpf.h"
#include "lib/read/snapshot.h"
#include "xdp/packet.bpf.h"

#define SUBJECT "hist "
#include "check.h"

static const struct metric times = {
	.kind = KIND_HISTOGRAM, .words = 1 + LOGLIN_SLOTS, .scale = 1,
};

#define B(slot, bound) [slot] = bound,
static const uint64_t bounds[] = { PKTSIZE_BOUNDS(B) };
#undef B
static const struct metric sizes = {
	.kind = KIND_HISTOGRAM, .words = 1 + PKTSIZE_SLOTS, .scale = 1, .bounds = bounds,
};

/* A time lies within [floor, bound) of its slot. */
static bool check_time(uint64_t ns)
{
	uint32_t slot = loglin_slot(ns);

	return must(slot < LOGLIN_SLOTS, "time", text("slot %u of %lu", slot, ns)) &&
	       must(hist_floor(&times, slot) <= ns && (ns < hist_bound(&times, slot)), "time",
		    text("%lu is in slot %u, of %g to %g", ns, slot, hist_floor(&times, slot),
			 hist_bound(&times, slot)));
}

static void test_times(void)
{
	int before = failed;

	for (uint64_t ns = 0; ns < 1 << 16; ns++)
		if (!check_time(ns))
			return;
	/* around every edge of a step, of every power of two; and in between */
	for (int octave = 3; octave < 64; octave++)
		for (uint64_t step = 8; step < 16; step++)
			for (int off = -2; off <= 2; off++)
				if (!check_time((step << (octave - 3)) + off) ||
				    !check_time((step << (octave - 3)) + off +
						(1ull << octave) / 16))
					return;
	check_time(~0ull);
	check(failed == before, "times are within their slots", "see above");
}

static void test_bounds(void)
{
	int before = failed;
	unsigned last = hist_slots(&times) - 1;

	must(hist_slots(&times) == LOGLIN_SLOTS, "bounds", text("%u slots", hist_slots(&times)));
	must(hist_floor(&times, 0) == 0 && isinf(hist_bound(&times, last)), "bounds", "open ends");
	for (unsigned i = 0; i < last; i++) {
		double low = hist_floor(&times, i), high = hist_bound(&times, i);

		must(low < high, "bounds", text("slot %u is empty", i));
		must(high == hist_floor(&times, i + 1), "bounds", text("a gap after slot %u", i));
		must(!i || high - low <= low / 8, "bounds",
		     text("slot %u is wider than 12.5%%", i));
		/* the first of a slot, and the last before it */
		must(loglin_slot(high) == i + 1 && loglin_slot(high - 1) == i, "bounds",
		     text("%g begins slot %u, not %u", high, loglin_slot(high), i + 1));
	}
	must(last && loglin_slot(1ull << LOGLIN_MAX) == last, "bounds", "the last begins late");
	check(failed == before, "slots are whole, without gap, 12.5% wide", "see above");
}

/* A size lies in (floor, bound] of its slot: bounds are inclusive. */
static void test_sizes(void)
{
	int before = failed;

	must(hist_slots(&sizes) == sizeof(bounds) / 8 + 1, "sizes",
	     text("%u slots", hist_slots(&sizes)));
	for (uint64_t len = 0; len < 200000; len++) {
		uint32_t slot = pktsize_slot(len);

		if (!must(slot < hist_slots(&sizes) && len <= hist_bound(&sizes, slot) &&
			  (!slot || len > hist_floor(&sizes, slot)), "sizes",
			  text("%lu is in slot %u", len, slot)))
			return;
	}
	must(pktsize_slot(~0u) == hist_slots(&sizes) - 1, "sizes", "the largest falls out");
	check(failed == before, "sizes are within their slots, BIG TCP too", "see above");
}

static const uint64_t how_many[] = { COUNTS_BOUNDS };
static const struct metric counts = {
	.kind = KIND_HISTOGRAM, .words = 1 + COUNTS_SLOTS, .scale = 1, .bounds = how_many,
	.steps = COUNTS_STEPS,
};

/* A number is exact up to 8, then to a quarter; values between two samples are not interpolated. */
static void test_counts(void)
{
	static uint64_t words[1 + COUNTS_SLOTS];
	int before = failed;

	must(hist_slots(&counts) == sizeof(how_many) / 8 + 1, "counts",
	     text("%u slots", hist_slots(&counts)));
	for (uint64_t n = 0; n < 300000; n++) {
		uint32_t slot = counts_slot(n);

		if (!must(slot < hist_slots(&counts) && n <= hist_bound(&counts, slot) &&
			  (!slot || n > hist_floor(&counts, slot)), "counts",
			  text("%lu is in slot %u", n, slot)) ||
		    !must(n > 1 << COUNTS_MAX || hist_bound(&counts, slot) <= n * 1.25 ||
			  hist_bound(&counts, slot) == n, "counts",
			  text("%lu is known to %g only", n, hist_bound(&counts, slot))))
			return;
	}
	must(counts_slot(~0ull) == hist_slots(&counts) - 1, "counts", "the largest falls out");
	words[1 + counts_slot(1)] = 99;
	words[1 + counts_slot(64)] = 1;
	must(hist_percentile(&counts, words, .5) == 1 && hist_max(&counts, words) == 64, "counts",
	     text("p50 is %g, max %g", hist_percentile(&counts, words, .5),
		  hist_max(&counts, words)));
	check(failed == before, "counts are within their slots", "see above");
}

/* A percentile lies in the slot of the value with that rank. */
static void test_percentiles(void)
{
	static uint64_t words[1 + LOGLIN_SLOTS];
	int before = failed;

	for (uint64_t ns = 1000; ns <= 1000000; ns += 1000)
		words[1 + loglin_slot(ns)]++;
	must(hist_count(&times, words) == 1000, "percentiles",
	     text("counted %lu", hist_count(&times, words)));
	for (int p = 1; p <= 100; p++) {
		double got = hist_percentile(&times, words, p / 100.), want = p * 10000;

		must(fabs(got - want) <= want / 8, "percentiles",
		     text("p%d is %g, not %g", p, got, want));
	}
	must(hist_max(&times, words) >= 1000000 && hist_max(&times, words) <= 1000000 * 1.125,
	     "percentiles", text("max is %g", hist_max(&times, words)));
	check(failed == before, "percentiles are off by 12.5% at the most", "see above");
}

int main(void)
{
	test_times();
	test_bounds();
	test_sizes();
	test_counts();
	test_percentiles();
	return failed > 0;
}
