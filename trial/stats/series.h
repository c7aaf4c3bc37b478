/* SPDX-License-Identifier: GPL-2.0 */
/* All rounds under one setting: the value of each figure in each round. */
#ifndef NICPROBE_TRIAL_SERIES_H
#define NICPROBE_TRIAL_SERIES_H

#include "trial/stats/exact.h"
#include "trial/stats/trial.h"

struct series {
	unsigned rounds, nr;
	struct figure figure[FIGURES_MAX];		/* .value: of the last round */
	double values[FIGURES_MAX][ROUNDS_MAX];		/* NAN: not measured in this round */
};

struct series *series_new(void);			/* free() it; NULL: out of memory */
/* 0; -E2BIG: already ROUNDS_MAX rounds. Figures are matched by name. */
int series_add(struct series *, const struct result *);
int series_find(const struct series *, const char *name);	/* -1: not found */
/* The same, but adds the figure if it is new, without values; -1: no room. */
int series_know(struct series *, const struct figure *);

#endif
