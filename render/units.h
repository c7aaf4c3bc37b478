/* SPDX-License-Identifier: GPL-2.0 */
/* Human-readable numbers: 12.35k, 16.40 MB, 1.23 ms. */
#ifndef NICPROBE_RENDER_UNITS_H
#define NICPROBE_RENDER_UNITS_H

#include <stddef.h>
#include <stdint.h>

#define UNITS_SIZE 32	/* room for any number */

/* Exact below 10,000, otherwise 4 significant digits and a power of 1000. */
void units_count(char text[UNITS_SIZE], double x);
void units_bytes(char text[UNITS_SIZE], double x);
void units_seconds(char text[UNITS_SIZE], double x);	/* 3 significant digits */
/* By the name of the unit: "bytes", "seconds"; all others are counts. */
void units_any(char text[UNITS_SIZE], double x, const char *unit);
/*
 * `x` per second, when it was counted over `seconds`; 0 seconds: a total. With fewer than 10
 * things, the total is shown instead of a rate: "1 in 2 s", or "1" in a window of a second.
 */
void units_rate(char *text, size_t size, double x, uint64_t things, const char *unit,
		double seconds);
/* Whole percents; only 0 is shown as `none`, and only the whole as 100%. */
void units_percent(char text[UNITS_SIZE], uint64_t part, uint64_t whole, const char *none);
void units_duration(char text[UNITS_SIZE], double seconds);	/* "3 min 20 s" */

#endif
