/* SPDX-License-Identifier: GPL-2.0 */
/* Compares two settings in alternating rounds until it is clear whether they differ. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "lib/util/error.h"
#include "trial/load/generator.h"
#include "trial/stats/ab.h"
#include "trial/stats/settle.h"
#include "trial/stats/shell.h"

enum { A, B };

const struct ab_options ab_defaults = {
	.link = -1, .rounds = 32, .seconds = 600, .pause = 0.2, .patience = 30, .tolerance = 1,
};

/* xorshift64*: the seed makes the order reproducible. */
static int lot(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717ull >> 63;
}

static bool stopped(const struct ab *t)
{
	return t->options.stop && *t->options.stop;
}

/* Runs command A or B. *in_force: the setting in effect; -1: unknown, as a command failed. */
static int set(struct ab *t, int which, int *in_force, struct error *e)
{
	int err;

	*in_force = -1;
	err = shell_run(which == A ? "command A" : "command B", t->options.command[which],
			t->options.patience, e);
	if (!err)
		*in_force = which;
	return err;
}

static int round_run(struct ab *t, int which, int link, int *in_force, struct result *result)
{
	const struct ab_options *o = &t->options;
	int err;

	if (stopped(t))
		return -EINTR;
	if (o->progress)
		o->progress(o->progress_ctx, t, which);
	result->nr = 0;
	return set(t, which, in_force, o->error) ?:
	       settle(link, o->iface, o->pause, o->patience, o->stop, o->error) ?:
	       (err = o->round(o->ctx, result, o->error)) ?: stopped(t) ? -EINTR : err;
}

/* Would another pair exceed the time limit? */
static bool out_of_time(const struct ab *t, double since)
{
	double took = seconds_now() - since;

	return t->options.seconds && t->nr && took + took / t->nr > t->options.seconds;
}

/* Runs pairs of rounds until one of enum ab_end. */
static int rounds_run(struct ab *t, double since, int *in_force)
{
	static struct result results[2];
	const struct ab_options *o = &t->options;
	int link = o->link >= 0 && link_running(o->link, o->iface) ? o->link : -1;
	uint64_t lots = o->seed * 0x9e3779b97f4a7c15;	/* spreads the bits of small seeds */
	int err = 0;

	for (t->end = AB_ROUNDS; t->nr < o->rounds; ) {
		int first = lot(&lots);

		if (out_of_time(t, since)) {
			t->end = AB_TIME;
			break;
		}
		for (int i = 0; !err && i < 2; i++)
			err = round_run(t, first ^ i, link, in_force, &results[first ^ i]);
		if (err)
			break;
		err = pairs_add(&t->pairs, &results[A], &results[B], o->error);
		if (err)
			return err;
		memcpy(t->order + 2 * t->nr++, first == A ? "AB" : "BA", 3);
		if (pairs_due(&t->pairs) && pairs_look(&t->pairs, false)) {
			t->end = AB_DECIDED;
			return 0;
		}
	}
	if (err == -EINTR || stopped(t)) {
		t->end = AB_STOPPED;
		error_forget(o->error);
		err = 0;
	}
	if (!err && t->nr < o->rounds)
		pairs_look(&t->pairs, true);
	return err;
}

/* Restores A in any case. An earlier error comes first in the message. */
static int put_back(struct ab *t, int err, int in_force)
{
	struct error *e = t->options.error, first = e ? *e : (struct error){}, then = {};
	int failed = in_force == A ? 0 : set(t, A, &in_force, &then);

	if (!failed)
		return err;
	error_forget(e);
	return error_set(e, err ?: failed, first.try, "%.255s%scannot set A again: %s", first.what,
			 *first.what ? "; and " : "", then.what);
}

int ab_run(const struct ab_options *o, struct ab *t)
{
	double since = seconds_now();
	int in_force = A, err;

	*t = (struct ab){ .options = *o };
	if (t->options.rounds > ROUNDS_MAX)
		t->options.rounds = ROUNDS_MAX;
	if (!t->options.seed && getrandom(&t->options.seed, sizeof(t->options.seed), 0) < 0)
		t->options.seed = time(NULL);
	t->options.seed = (t->options.seed & 0xffffffff) ?: 1;	/* exact as a JSON number */
	err = pairs_start(&t->pairs, t->options.rounds, o->error);
	if (err)
		return err;
	t->pairs.figure = o->figure;
	t->pairs.tolerance = o->tolerance;
	err = rounds_run(t, since, &in_force);
	t->seconds = seconds_now() - since;
	return put_back(t, err, in_force);
}

void ab_free(struct ab *t)
{
	pairs_free(&t->pairs);
}
