/* SPDX-License-Identifier: GPL-2.0 */
/* How the outcome of a benchmark looks. */
#ifndef NICPROBE_CMD_BENCH_H
#define NICPROBE_CMD_BENCH_H

#include <stdio.h>

#include "../trial/bench.h"

void bench_print(FILE *, const struct bench *);
void bench_json(FILE *, const struct bench *);

#endif
