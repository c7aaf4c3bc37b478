/* SPDX-License-Identifier: GPL-2.0 */
/* All rounds under one setting: the value of each figure in each round. */
#ifndef NICPROBE_ROUNDS_H
#define NICPROBE_ROUNDS_H

#include "trial/stats/exact.h"
#include "trial/stats/trial.h"

struct rounds {
	unsigned rounds, nr;
	struct bench_figure figure[FIGURES_MAX];	/* .value: of the last round */
	double values[FIGURES_MAX][ROUNDS_MAX];		/* NAN: not measured in this round */
};

struct rounds *rounds_new(void);			/* free() it; NULL: out of memory */
/* 0; -E2BIG: already ROUNDS_MAX rounds. Figures are matched by name. */
int rounds_add(struct rounds *, const struct result *);
int rounds_find(const struct rounds *, const char *name);	/* -1: not found */
/* The same, but adds the figure if it is new, without values; -1: no room. */
int rounds_know(struct rounds *, const struct bench_figure *);

#endif
