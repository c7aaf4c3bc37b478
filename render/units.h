/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers as a person reads them: 12.35k, 16.40 MB, 1.23 ms. */
#ifndef NICPROBE_RENDER_UNITS_H
#define NICPROBE_RENDER_UNITS_H

#include <stddef.h>
#include <stdint.h>

#define UNITS_SIZE 32	/* no number is longer */

/* Exact below 10,000, else 4 significant digits and a power of 1000. */
void units_count(char text[UNITS_SIZE], double x);
void units_bytes(char text[UNITS_SIZE], double x);
void units_seconds(char text[UNITS_SIZE], double x);	/* 3 significant digits */
/* By the name of the unit: "bytes", "seconds", or anything that is counted. */
void units_any(char text[UNITS_SIZE], double x, const char *unit);
/*
 * `x` of a unit in so many seconds, for each of them; of fewer than 10 things, which are no rate,
 * how much it was: "1 in 2 s", in a window of a second "1". 0 seconds: it is a total.
 */
void units_rate(char *text, size_t size, double x, uint64_t things, const char *unit,
		double seconds);
/* Whole percents; what is not nothing is not 0%, and what is not all not 100%. */
void units_percent(char text[UNITS_SIZE], uint64_t part, uint64_t whole, const char *none);
void units_duration(char text[UNITS_SIZE], double seconds);	/* "3 min 20 s" */

#endif
