/* SPDX-License-Identifier: GPL-2.0 */
/* All rounds under one setting: of each figure its value in every round. */
#ifndef NICPROBE_TRIAL_SERIES_H
#define NICPROBE_TRIAL_SERIES_H

#include "trial/stats/exact.h"
#include "trial/stats/trial.h"

struct series {
	unsigned rounds, nr;
	struct figure figure[FIGURES_MAX];		/* .value is that of the round last added */
	double values[FIGURES_MAX][ROUNDS_MAX];		/* NAN: that round had it not */
};

struct series *series_new(void);			/* free() it; NULL: no memory */
/* 0; -E2BIG: there is no room for more than ROUNDS_MAX. Figures are matched by name. */
int series_add(struct series *, const struct result *);
int series_find(const struct series *, const char *name);	/* -1: no round had it */
/* The same, but takes it in as one that no round has had; -1: no room. */
int series_know(struct series *, const struct figure *);

#endif
