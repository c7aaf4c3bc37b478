/* SPDX-License-Identifier: GPL-2.0 */
/* The named figures of a trial, as produced by each round and compared afterwards. */
#ifndef NICPROBE_TRIAL_H
#define NICPROBE_TRIAL_H

#include <math.h>

struct error;

/* A named number that a round measures. */
struct bench_figure {
	char name[48];		/* as in JSON: "packets_per_second", "queue 0 packets_per_second" */
	const char *unit;	/* "packets/s", "bit/s", "ns", … */
	int better;		/* 1: more is better, -1: less is better, 0: neither */
	double value;		/* NAN: not measurable here */
};

#define FIGURES_MAX 512

struct result {			/* of one round */
	int nr;
	struct bench_figure figure[FIGURES_MAX];
};

/* Runs one round and fills the result. 0, or -errno with an error message. */
typedef int trial_round(void *ctx, struct result *, struct error *);

#endif
