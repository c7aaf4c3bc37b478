/* SPDX-License-Identifier: GPL-2.0 */
/* Two settings, turn by turn, until it is clear whether they differ. */
#ifndef NICPROBE_TRIAL_AB_H
#define NICPROBE_TRIAL_AB_H

#include <signal.h>
#include <stdint.h>

#include "trial/stats/pairs.h"

enum ab_end {
	AB_DECIDED,
	AB_ROUNDS,		/* there were as many as there might be */
	AB_TIME,
	AB_STOPPED,
};

struct ab;

struct ab_options {
	const char *command[2];		/* A, which is how it was before, and B; for /bin/sh */
	const char *iface;		/* whose carrier is waited for… */
	int link;			/* …by this link_socket(); -1: nobody's */
	unsigned rounds;		/* of each, at most */
	double seconds;			/* in all, at most; 0: as long as it takes */
	double pause;			/* seconds between a command and its round */
	double patience;		/* seconds for a command to end, and for a carrier */
	double tolerance;		/* percent: a smaller difference is none, and ends it */
	const char *figure;		/* which decides; NULL: the first that can be better */
	uint64_t seed;			/* of the order; 0: a random one */
	const volatile sig_atomic_t *stop;	/* set: end, and say what there is; NULL: never */
	trial_round *round;		/* -EINTR: it was stopped, which is no error */
	void *ctx;
	/* Before each command: it is for A (0) or B (1); NULL: nobody wants to know. */
	void (*progress)(void *ctx, const struct ab *, int which);
	void *progress_ctx;
};

struct ab {
	struct ab_options options;
	struct pairs pairs;
	unsigned nr;			/* of whole pairs */
	char order[2 * ROUNDS_MAX + 1];	/* "ABBAAB…" of them */
	enum ab_end end;
	double seconds;			/* it took */
};

extern const struct ab_options ab_defaults;

/*
 * 0, also when it was stopped; or -errno and a complaint. Each round is: the command, the pause,
 * the carrier, the measurement; who is first in a pair is drawn by lot. At its end, however it
 * ends, command A is run once more, unless it was the last. ab_free() in any case.
 */
int ab_run(const struct ab_options *, struct ab *);
void ab_free(struct ab *);

#endif
