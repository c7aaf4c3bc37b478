/* SPDX-License-Identifier: GPL-2.0 */
/* How often a comparison is wrong, with the noise of real machines; and what it cannot compare. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/util/log.h"
#include "trial/stats/pairs.h"

#define SUBJECT "compare: "
#include "check.h"

/* xorshift64*: the same numbers on every machine. */
static uint64_t state;

static double uniform(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return ((state * 2685821657736338717ull >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* The logarithm of the error of round `t` of a machine; `was`: that of the previous round. */
typedef double noise(unsigned t, double was);

static double calm(unsigned t, double was)
{
	(void)t, (void)was;
	return 0.03 * normal();
}

/* No variance, and one round in ten lost to another process. */
static double heavy(unsigned t, double was)
{
	(void)t, (void)was;
	return 0.02 * normal() / (uniform() + 0.01) - (uniform() < 0.1 ? 0.7 : 0);
}

static double drift(unsigned t, double was)
{
	(void)was;
	return 0.02 * normal() - 0.01 * t;
}

static double likeness(unsigned t, double was)
{
	(void)t;
	return 0.9 * was + 0.02 * normal();
}

static double some_likeness(unsigned t, double was)
{
	(void)t;
	return 0.3 * was + 0.03 * normal();
}

static double walk(unsigned t, double was)
{
	(void)t;
	return was + 0.03 * normal();
}

/* Every second round is slower: strict alternation of A and B would show a difference. */
static double beat(unsigned t, double was)
{
	(void)was;
	return 0.01 * normal() + (t & 1 ? 0.05 : 0);
}

struct outcome {
	bool real, any, decided;	/* for the deciding figure; for any figure */
	double difference, low, high;
	unsigned rounds;
};

static void fill(struct result *r, int figures, double own, double level)
{
	r->nr = figures;
	for (int i = 0; i < figures; i++) {
		struct bench_figure *f = &r->figure[i];

		snprintf(f->name, sizeof(f->name), "figure %d", i);
		f->unit = "1/s";
		f->better = 1;
		f->value = 1e6 * exp(level + (i ? own * normal() : 0));
	}
}

/* A whole trial: pairs in random order, looks when they are due, until decided. */
static struct outcome trial(noise *n, double effect, int figures, unsigned max)
{
	static struct result r[2];
	struct pairs p = { .tolerance = 1 };
	struct outcome o = {};
	double was = 0;

	if (pairs_start(&p, max, NULL))
		exit(2);
	for (unsigned pair = 0; pair < max && !o.decided; pair++) {
		int first = uniform() < 0.5;

		for (unsigned i = 0; i < 2; i++) {
			int which = first ^ i;

			was = n(2 * pair + i, was);
			fill(&r[which], figures, 0.02, was + (which ? log1p(effect) : 0));
		}
		pairs_add(&p, &r[0], &r[1], NULL);
		if (pairs_due(&p))
			o.decided = pairs_look(&p, false);
	}
	o.real = p.list[0].verdict == VERDICT_REAL;
	for (unsigned i = 0; i < p.nr; i++)
		o.any |= p.list[i].verdict == VERDICT_REAL;
	o.difference = p.list[0].difference;
	o.low = p.list[0].low;
	o.high = p.list[0].high;
	o.rounds = p.side[0]->rounds;
	pairs_free(&p);
	return o;
}

static void check_calibration(const char *name, noise *n, int figures)
{
	enum { TRIALS = 400 };
	unsigned alarms = 0, missed = 0, rounds = 0;

	state = 88172645463325252ull;
	for (int i = 0; i < TRIALS; i++) {
		struct outcome o = trial(n, 0, figures, 32);

		alarms += o.any;
		missed += o.low > 0 || o.high < 0;
		rounds += o.rounds;
	}
	check(alarms * 20 <= TRIALS && missed * 20 <= TRIALS && rounds >= TRIALS * 16,
	      text("A against A, %s: a difference in %u of %d, after %u rounds", name, alarms,
		   TRIALS, rounds / TRIALS),
	      text("more than 1 in 20, or the interval in %u", missed));
}

static void check_power(const char *name, noise *n, double effect, unsigned least)
{
	enum { TRIALS = 200 };
	unsigned found = 0, covered = 0, rounds = 0;

	state = 88172645463325252ull;
	for (int i = 0; i < TRIALS; i++) {
		struct outcome o = trial(n, effect, 20, 32);

		found += o.real && (o.difference > 0) == (effect > 0);
		covered += o.low <= 100 * effect && o.high >= 100 * effect;
		rounds += o.rounds;
	}
	check(found * 100 >= least * TRIALS && covered * 20 >= 19 * TRIALS,
	      text("%+.0f%%, %s: found in %u of %d, after %u rounds; the interval has it in %u",
		   100 * effect, name, found, TRIALS, rounds / TRIALS, covered), "too seldom");
}

static void check_unpaired(const char *name, noise *n, double effect, unsigned least, unsigned most)
{
	enum { TRIALS = 400, ROUNDS = 12 };
	unsigned real = 0;

	state = 88172645463325252ull;
	for (int i = 0; i < TRIALS; i++) {
		double v[2][ROUNDS], was = 0;
		struct comparison c;

		for (int side = 0; side < 2; side++)
			for (int round = 0; round < ROUNDS; round++) {
				/* much time has passed between the two */
				for (int idle = 0; idle < (round ? 1 : 50); idle++)
					was = n(0, was);
				v[side][round] = exp(was + side * log1p(effect));
			}
		compare_unpaired(v[0], ROUNDS, v[1], ROUNDS, TRIAL_ALPHA, &c);
		real += c.verdict == VERDICT_REAL;
	}
	check(real >= least && real <= most,
	      text("two occasions, %+.0f%%, %s: a difference in %u of %d", 100 * effect, name, real,
		   TRIALS), text("not %u to %u", least, most));
}

/* Critical values for 5% from printed tables of the two tests. */
static void check_exact(void)
{
	check(exact_signed_rank(5, 0.05) == 0 && exact_signed_rank(6, 0.05) == 1 &&
	      exact_signed_rank(10, 0.05) == 9 && exact_signed_rank(20, 0.05) == 53 &&
	      exact_signed_rank(25, 0.01) == 69, "signed ranks, as the tables have them",
	      text("%u %u", exact_signed_rank(10, 0.05), exact_signed_rank(25, 0.01)));
	check(exact_rank_sum(3, 3, 0.05) == 0 && exact_rank_sum(4, 4, 0.05) == 1 &&
	      exact_rank_sum(5, 8, 0.05) == 7 && exact_rank_sum(10, 10, 0.05) == 24 &&
	      exact_rank_sum(20, 20, 0.05) == 128, "rank sums, as the tables have them",
	      text("%u %u", exact_rank_sum(10, 10, 0.05), exact_rank_sum(20, 20, 0.05)));
	holds(exact_signed_rank(0, 0.05) == 0 && exact_signed_rank(ROUNDS_MAX + 1, 0.05) == 0 &&
	      exact_rank_sum(0, 5, 0.05) == 0 && exact_rank_sum(5, ROUNDS_MAX + 1, 0.05) == 0,
	      "none and too many");
	holds(exact_signed_rank(ROUNDS_MAX, 0.05) > 0 && exact_rank_sum(ROUNDS_MAX, 9, 0.05) > 0,
	      "as many as there may be");
}

static struct comparison paired(double a, double a_step, double b, double b_step, unsigned nr)
{
	struct comparison c = { .better = 1 };
	double v[2][ROUNDS_MAX];

	for (unsigned i = 0; i < nr; i++) {
		v[0][i] = a + i * a_step;
		v[1][i] = b + i * b_step;
	}
	compare_paired(v[0], v[1], nr, TRIAL_ALPHA, &c);
	return c;
}

static const char *told(const struct comparison *c)
{
	return text("%g %g: %g [%g, %g] %d", c->a, c->b, c->difference, c->low, c->high,
		    c->verdict);
}

static void check_odd(void)
{
	struct comparison c = paired(7, 0, 7, 0, 10);

	check(c.verdict == VERDICT_NONE && c.difference == 0 && c.low == 0 && c.high == 0,
	      "all equal: no difference", told(&c));
	c = paired(100, 0, 110, 0, 10);
	check(c.verdict == VERDICT_REAL && fabs(c.low - 10) < 1e-9 && fabs(c.high - 10) < 1e-9 &&
	      comparison_good(&c) == 1, "always 10% more: real, and better", told(&c));
	c.better = -1;
	check(comparison_good(&c) == -1, "…or worse, where less is better", told(&c));
	c = paired(1, 0, 2, 0, 1);
	check(c.verdict == VERDICT_FEW && isinf(c.low) && isinf(c.high) && c.difference > 99,
	      "one round: not enough", told(&c));
	c = paired(1, 0, 2, 0, 0);
	check(c.verdict == VERDICT_FEW && isnan(c.a) && isnan(c.difference), "none: not enough",
	      told(&c));
	c = paired(NAN, 0, 2, 0, 10);
	check(c.verdict == VERDICT_FEW && !c.rounds_a && isnan(c.a) && c.b == 2,
	      "A not measured", told(&c));
	c = paired(INFINITY, 0, 2, 0, 10);
	check(c.verdict == VERDICT_FEW && !c.rounds_a, "infinite", told(&c));
	c = paired(0, 0, 0, 0, 10);
	check(c.verdict == VERDICT_NONE && c.difference == 0 &&
	      comparison_percent(&c, c.difference) == 0, "nothing and nothing", told(&c));
	c = paired(0, 0, 50, 1, 10);
	check(c.verdict == VERDICT_REAL && !c.relative && c.a == 0 && c.low > 49 && c.high < 60 &&
	      isinf(comparison_percent(&c, c.difference)), "from nothing to something", told(&c));
	c = paired(-10, 0, -20, -1, 10);
	check(c.verdict == VERDICT_REAL && !c.relative && c.difference < -9 &&
	      comparison_percent(&c, c.difference) < -90, "below nothing", told(&c));
}

static void check_odd_unpaired(void)
{
	const double same[] = { 5, 5, 5, 5, 5, 5 }, more[] = { 6, 6.1, 6, 6.2, 6, 6.1 };
	const double holes[] = { NAN, 5, NAN, 5.1, INFINITY, 5.2, 5, 5.1 };
	struct comparison c = {};

	compare_unpaired(same, 6, same, 6, TRIAL_ALPHA, &c);
	check(c.verdict == VERDICT_NONE && c.low == 0 && c.high == 0, "two occasions, all equal",
	      told(&c));
	compare_unpaired(same, 6, more, 6, TRIAL_ALPHA, &c);
	check(c.verdict == VERDICT_REAL && c.difference > 19 && c.difference < 25,
	      "two occasions, 20% more", told(&c));
	compare_unpaired(holes, 8, more, 6, TRIAL_ALPHA, &c);
	check(c.rounds_a == 5 && c.rounds_b == 6 && c.verdict == VERDICT_REAL,
	      "rounds that had it not are left out", told(&c));
	compare_unpaired(same, 1, more, 6, TRIAL_ALPHA, &c);
	check(c.verdict == VERDICT_FEW, "one round of two occasions", told(&c));
	compare_unpaired(same, 0, more, 6, TRIAL_ALPHA, &c);
	check(c.verdict == VERDICT_FEW && isnan(c.a) && c.b == 6.05, "never before", told(&c));
}

static void check_looks(void)
{
	struct looks l = { .max = 100 };
	double spent = 0, one;
	unsigned at = 0, nr = 0;

	while (at < l.max && nr++ < 100) {
		at = looks_next(&l, at);
		one = looks_spend(&l, at, false);
		spent += one;
		check(one > 0, text("look %u, at %u", nr, at), "costs nothing");
	}
	check(nr == 7 && fabs(spent - TRIAL_ALPHA) < 1e-12,
	      "looks share one chance of a false alarm", text("%u looks, %g", nr, spent));
	l = (struct looks){ .max = 5 };
	check(looks_next(&l, 0) == 5 && looks_spend(&l, 5, false) == TRIAL_ALPHA,
	      "few rounds: one look", text("at %u", looks_next(&l, 0)));
	l = (struct looks){ .max = 100 };
	looks_spend(&l, 16, false);
	looks_spend(&l, 20, true);
	check(fabs(l.spent - TRIAL_ALPHA) < 1e-12, "ended early: the last look has the rest",
	      text("%g", l.spent));
}

int main(void)
{
	check_exact();
	check_odd();
	check_odd_unpaired();
	check_looks();
	check_calibration("normal", calm, 1);
	check_calibration("normal, 20 figures", calm, 20);
	check_calibration("heavy tails", heavy, 20);
	check_calibration("drift", drift, 20);
	check_calibration("autocorrelation", likeness, 20);
	check_calibration("random walk", walk, 20);
	check_calibration("every second slow", beat, 20);
	check_power("3% noise", calm, 0.05, 95);
	check_power("3% noise", calm, -0.05, 95);
	check_power("autocorrelation", likeness, 0.05, 95);
	check_power("drift", drift, 0.05, 95);
	check_unpaired("normal", calm, 0, 0, 20);
	check_unpaired("heavy tails", heavy, 0, 0, 20);
	check_unpaired("neighbours somewhat alike", some_likeness, 0, 0, 20);
	check_unpaired("normal", calm, 0.05, 320, 400);
	return failed > 0;
}
