/* SPDX-License-Identifier: GPL-2.0 */
/* A trial of now against one that was saved: what has become worse? */
#ifndef NICPROBE_TRIAL_AGAINST_H
#define NICPROBE_TRIAL_AGAINST_H

#include "trial/stats/compare.h"
#include "trial/stats/record.h"

#define AGAINST_TOLERANCE 5	/* percent, where nothing else is said */

struct look;
struct json;

struct against {
	const struct record *then, *now;
	double tolerance;		/* percent */
	unsigned nr;
	struct comparison *list;	/* A is then, B is now */
	unsigned worse, better;		/* of them, by more than the tolerance */
};

/*
 * 0; or -EINVAL and a complaint: it was another scenario, or had other options. Another kernel,
 * driver or machine is what one may want to compare. Known before anything is measured.
 */
int against_alike(const struct record *then, const struct record *now);
/* 0; or -errno and a complaint, as above. against_free() in any case. */
int against_compare(struct against *, const struct record *then, const struct record *now,
		    double tolerance);
void against_free(struct against *);
/* Is the difference real, by its interval, in the bad (or good) direction, and beyond tolerance? */
bool against_worse(const struct against *, const struct comparison *);
bool against_better(const struct against *, const struct comparison *);

void against_table(FILE *, const struct look *, const struct against *);
void against_json(struct json *, const struct against *);	/* a member "against" */

#endif
