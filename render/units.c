/* SPDX-License-Identifier: GPL-2.0 */
/* Human-readable numbers: 12.35k, 16.40 MB, 1.23 ms. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/text.h"
#include "render/units.h"

static void digits_put(char text[UNITS_SIZE], unsigned n, const char *suffix)
{
	char room[NUMBER_SIZE];

	strcpy(stpcpy(text, text_number(room, n)), suffix);
}

/*
 * `x` with this many significant digits and the suffix of its power of 1000. Rounds before choosing
 * the suffix: 999,999 is 1.000M, not 1000k.
 */
static void scaled(char text[UNITS_SIZE], double x, int digits, const char *const *suffix, int last)
{
	char rounded[32];	/* "1.234e+05" */
	int exponent, power, point;

	snprintf(rounded, sizeof(rounded), "%.*e", digits - 1, fabs(x));
	if (x < 0)
		*text++ = '-';
	exponent = atoi(strchr(rounded, 'e') + 1);
	power = exponent < 0 ? 0 : exponent / 3;
	if (power > last)
		power = last;
	rounded[1] = rounded[0];
	point = exponent - 3 * power + 1;	/* digits before it */
	for (int i = point < 1 ? point - 1 : 0; i < digits || i < point; i++) {
		*text++ = i < 0 || i >= digits ? '0' : rounded[1 + i];
		if (i == point - 1 && i + 1 < digits)
			*text++ = '.';
	}
	strcpy(text, suffix[power]);
}

static void counted(char text[UNITS_SIZE], double x, const char *const *suffix)
{
	if (x >= 9999.5)
		scaled(text, x, 4, suffix, 6);
	else if (x >= 0 && x == floor(x))
		digits_put(text, x, suffix[0]);
	else if (x >= 99.95)
		snprintf(text, UNITS_SIZE, "%.0f%s", x, suffix[0]);
	else if (x < 0.01)
		snprintf(text, UNITS_SIZE, "<0.01%s", suffix[0]);
	else
		snprintf(text, UNITS_SIZE, "%.*f%s", x < 9.995 ? 2 : 1, x, suffix[0]);
}

void units_count(char text[UNITS_SIZE], double x)
{
	static const char *const suffix[] = { "", "k", "M", "G", "T", "P", "E" };

	counted(text, x, suffix);
}

void units_bytes(char text[UNITS_SIZE], double x)
{
	static const char *const suffix[] = { " B", " kB", " MB", " GB", " TB", " PB", " EB" };

	counted(text, x, suffix);
}

void units_seconds(char text[UNITS_SIZE], double x)
{
	static const char *const suffix[] = { " ns", " us", " ms", " s" };
	double ns = x * 1e9;

	/* whole nanoseconds have no decimals */
	if (ns >= 0 && ns < 999.5 && fabs(ns - round(ns)) < 1e-6)
		digits_put(text, lrint(ns), suffix[0]);
	else
		scaled(text, ns, 3, suffix, 3);
}

void units_any(char text[UNITS_SIZE], double x, const char *unit)
{
	if (!strcmp(unit, "bytes"))
		units_bytes(text, x);
	else if (!strcmp(unit, "seconds"))
		units_seconds(text, x);
	else
		units_count(text, x);
}

#define FEW	10	/* a rate of fewer things is not meaningful */

void units_rate(char *text, size_t size, double x, uint64_t things, const char *unit,
		double seconds)
{
	char is[UNITS_SIZE];
	bool few = things && things < FEW && seconds > 0;

	units_any(is, few || seconds <= 0 ? x : x / seconds, unit);
	if (few && fabs(seconds - 1) > .05)
		snprintf(text, size, seconds < 9.95 ? "%s in %.2g s" : "%s in %.0f s", is, seconds);
	else
		snprintf(text, size, "%s", is);
}

void units_percent(char text[UNITS_SIZE], uint64_t part, uint64_t whole, const char *none)
{
	double x = whole ? 100.0 * part / whole : 0;

	if (!part)
		snprintf(text, UNITS_SIZE, "%s", none);
	else if (x < 0.5)
		snprintf(text, UNITS_SIZE, "<1%%");
	else if (x >= 99.5 && part < whole)
		snprintf(text, UNITS_SIZE, ">99%%");
	else
		digits_put(text, lrint(x), "%");
}

void units_duration(char text[UNITS_SIZE], double seconds)
{
	unsigned long long s = llround(seconds);

	if (s < 60)
		snprintf(text, UNITS_SIZE, "%llu s", s);
	else if (s < 3600)
		snprintf(text, UNITS_SIZE, "%llu min %llu s", s / 60, s % 60);
	else if (s < 86400)
		snprintf(text, UNITS_SIZE, "%llu h %llu min", s / 3600, s / 60 % 60);
	else
		snprintf(text, UNITS_SIZE, "%llu d %llu h", s / 86400, s / 3600 % 24);
}
