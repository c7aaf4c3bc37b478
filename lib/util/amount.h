/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers that a user typed. */
#ifndef NICPROBE_AMOUNT_H
#define NICPROBE_AMOUNT_H

#include <stdbool.h>

/* Digits and nothing else, from `least` to `most`. False: it is something else. */
bool count_parse(const char *text, unsigned least, unsigned most, unsigned *count);

/* "2", "0.5%": from 0.01 to 100 per cent, in millionths. False: it is something else. */
bool percent_parse(const char *text, unsigned *millionths);

/* "5", "5s", "500ms", "2m", "1h", "2d": above 0, in seconds. False: it is something else. */
bool time_parse(const char *text, double *seconds);

#endif
