/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe explain --man, the second half of the command. */
#ifndef NICPROBE_EXPLAIN_H
#define NICPROBE_EXPLAIN_H

#include <stdio.h>

/* Write nicprobe-findings(7) as mdoc(7). */
void explain_man(FILE *);

#endif
