/* SPDX-License-Identifier: GPL-2.0 */
/* Sentences: what is wrong, and what to try. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "findings.h"
#include "log.h"

bool finding_about(struct findings *f, enum about about, const char *meter)
{
	if (about != ABOUT_ITSELF && !f->about[about])
		f->about[about] = meter;
	return about == ABOUT_ITSELF || !strcmp(f->about[about], meter);
}

const char *finding_time(double seconds)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double x = seconds * 1e9;
	unsigned i = 0;

	for (; i < 3 && x >= 999.5; i++)
		x /= 1000;
	return text(x < 999.5 ? "%.3g %s" : "%.0f %s", x, units[i]);
}

void finding(struct findings *f, const char *meter, const char *try, const char *what, ...)
{
	struct finding *one = &f->list[f->nr];
	va_list args;

	if (f->nr == MAX_FINDINGS)
		return;
	f->nr++;
	one->meter = meter;
	snprintf(one->try, sizeof(one->try), "%s", try);
	va_start(args, what);
	vsnprintf(one->what, sizeof(one->what), what, args);
	va_end(args);
}
