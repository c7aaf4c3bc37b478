/* SPDX-License-Identifier: GPL-2.0 */
/* Compares a trial with a saved baseline: which figures are worse now? */
#ifndef NICPROBE_TRIAL_AGAINST_H
#define NICPROBE_TRIAL_AGAINST_H

#include "trial/stats/compare.h"
#include "trial/stats/record.h"

#define AGAINST_TOLERANCE 5	/* percent, by default */

struct error;
struct look;
struct json;

struct against {
	const struct record *then, *now;
	double tolerance;		/* percent */
	unsigned nr;
	struct comparison *list;	/* A is then, B is now */
	unsigned worse, better;		/* figures, by more than the tolerance */
};

/*
 * 0; or -EINVAL with an error message if scenario or options differ. Kernel, driver and machine may
 * differ: these may be what is compared. Needs no measurements of `now`.
 */
int against_alike(const struct record *then, const struct record *now, struct error *);
/* 0; or -errno with an error message, as above. Call against_free() in any case. */
int against_compare(struct against *, const struct record *then, const struct record *now,
		    double tolerance, struct error *);
void against_free(struct against *);
/* -1 or 1: a change for the worse or better, real by its interval and beyond the tolerance. */
int against_change(const struct against *, const struct comparison *);

void against_table(FILE *, const struct look *, const struct against *);
void against_json(struct json *, const struct against *);	/* adds a member "against" */

#endif
