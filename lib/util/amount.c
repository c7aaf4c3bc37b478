/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers that a user typed. */
#include <stdlib.h>
#include <string.h>

#include "lib/util/amount.h"

bool count_parse(const char *text, unsigned least, unsigned most, unsigned *count)
{
	unsigned long long n;

	if (!*text || text[strspn(text, "0123456789")])
		return false;
	n = strtoull(text, NULL, 10);	/* too many digits: ULLONG_MAX */
	if (n < least || n > most)
		return false;
	*count = n;
	return true;
}

bool percent_parse(const char *text, unsigned *millionths)
{
	size_t digits = strspn(text, "0123456789.");
	char *end;
	double x;

	if (!digits || (text[digits] && strcmp(text + digits, "%")))
		return false;
	x = strtod(text, &end);
	if (end != text + digits || !(x >= .01 && x <= 100))
		return false;
	*millionths = x * 10000 + .5;
	return true;
}

bool time_parse(const char *text, double *seconds)
{
	static const struct { const char *unit; double seconds; } units[] = {
		{ "", 1 }, { "s", 1 }, { "ms", 1e-3 }, { "m", 60 }, { "min", 60 }, { "h", 3600 },
		{ "d", 86400 },
	};
	size_t digits = strspn(text, "0123456789.");
	char *end;
	double x;

	if (!digits)
		return false;
	x = strtod(text, &end);
	for (unsigned i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (end == text + digits && x > 0 && !strcmp(end, units[i].unit)) {
			*seconds = x * units[i].seconds;
			return true;
		}
	return false;
}
