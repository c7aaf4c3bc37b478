/* SPDX-License-Identifier: GPL-2.0 */
/* How the outcome of a benchmark looks. */
#ifndef NICPROBE_CMD_BENCH_H
#define NICPROBE_CMD_BENCH_H

#include <stdbool.h>
#include <stdio.h>

#include "trial/scenario/suite.h"
#include "trial/stats/exact.h"

/* How rounds are compared; what is 0 or NULL was not said. */
struct versus {
	const char *ab[2];		/* commands */
	const char *save, *against;	/* files */
	const char *figure;
	unsigned rounds;
	double minutes, pause, tolerance;	/* negative: not said */
};

/* 0; or the exit status, a complaint was printed: these do not go together. */
int versus_check(const struct versus *);
bool versus_wanted(const struct versus *);
/* Rounds, and what comes out of them. The exit status. */
int versus_run(struct bench *, const struct versus *);

void bench_print(FILE *, const struct bench *);
void bench_json(FILE *, const struct bench *);

#endif
