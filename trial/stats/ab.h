/* SPDX-License-Identifier: GPL-2.0 */
/* Compares two settings in alternating rounds until it is clear whether they differ. */
#ifndef NICPROBE_TRIAL_AB_H
#define NICPROBE_TRIAL_AB_H

#include <signal.h>
#include <stdint.h>

#include "trial/stats/pairs.h"

enum ab_end {
	AB_DECIDED,
	AB_ROUNDS,		/* the maximum number of rounds */
	AB_TIME,
	AB_STOPPED,
	NR_AB_ENDS
};

struct ab;
struct error;

struct ab_options {
	const char *command[2];		/* A, the previous setting, and B; for /bin/sh */
	const char *iface;		/* wait for the carrier of this interface… */
	int link;			/* …by this link_socket(); -1: do not wait */
	unsigned rounds;		/* of each, at most */
	double seconds;			/* total limit; 0: none */
	double pause;			/* seconds between a command and its round */
	double patience;		/* seconds to wait for a command, and for a carrier */
	double tolerance;		/* percent: decided if the difference is within it */
	const char *figure;		/* that decides; NULL: the first that can be better */
	uint64_t seed;			/* of the order; 0: random */
	const volatile sig_atomic_t *stop;	/* nonzero: stop; NULL: never */
	trial_round *round;		/* -EINTR: stopped, which is not an error */
	void *ctx;
	/* Called before each command, with `which` 0 for A, 1 for B; may be NULL. */
	void (*progress)(void *ctx, const struct ab *, int which);
	void *progress_ctx;
	struct error *error;		/* where the reason is written; NULL: nowhere */
};

struct ab {
	struct ab_options options;
	struct pairs pairs;
	unsigned nr;			/* complete pairs */
	char order[2 * ROUNDS_MAX + 1];	/* "ABBAAB…" */
	enum ab_end end;
	double seconds;			/* total duration */
};

extern const struct ab_options ab_defaults;

/*
 * 0, also if stopped; or -errno with an error message. A round is: the command, the pause, waiting
 * for the carrier, the measurement; the order within a pair is random. At the end, whatever its
 * reason, command A is run again unless it was the last. Call ab_free() in any case.
 */
int ab_run(const struct ab_options *, struct ab *);
void ab_free(struct ab *);

#endif
