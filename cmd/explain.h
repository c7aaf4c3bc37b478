/* SPDX-License-Identifier: GPL-2.0 */
/* The two halves of `nicprobe explain`. */
#ifndef NICPROBE_EXPLAIN_H
#define NICPROBE_EXPLAIN_H

#include <stdio.h>

/* Writes nicprobe-findings(7), as mdoc(7). */
void explain_man(FILE *);

#endif
