/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations shared by the files of nicprobe bench. */
#ifndef NICPROBE_CMD_BENCH_H
#define NICPROBE_CMD_BENCH_H

#include <stdbool.h>
#include <stdio.h>

#include "trial/scenario/suite.h"
#include "trial/stats/exact.h"

/* How rounds are compared; 0 or NULL: not given. */
struct versus {
	const char *ab[2];		/* commands */
	const char *save, *against;	/* files */
	const char *figure;
	unsigned rounds;
	double minutes, pause, tolerance;	/* negative: not given */
};

/* Checks the combination of options. 0, or the exit status after printing an error. */
int versus_check(const struct versus *);
bool versus_wanted(const struct versus *);
/* Runs the rounds and prints the comparison. Returns the exit status. */
int versus_run(struct bench *, const struct versus *);

void bench_print(FILE *, const struct bench *);
void bench_json(FILE *, const struct bench *);

#endif
