/* SPDX-License-Identifier: GPL-2.0 */
/* An error as a value: what failed, on what and why, and what to try. */
#include <stdarg.h>
#include <stdio.h>

#include "lib/util/error.h"
#include "lib/util/shortage.h"

int error_set(struct error *e, int err, const char *try, const char *what, ...)
{
	struct error now = { .err = err };
	va_list args;

	if (*error_what(e) || (!e && !is_shortage(-err)))
		return err;
	snprintf(now.try, sizeof(now.try), "%s", try ?: "");
	va_start(args, what);
	vsnprintf(now.what, sizeof(now.what), what, args);
	va_end(args);
	if (is_shortage(-err))
		shortage_note(-err, try, "%s", now.what);
	if (e)
		*e = now;
	return err;
}

void error_forget(struct error *e)
{
	if (e)
		*e = (struct error){};
}

const char *error_what(const struct error *e)
{
	return e ? e->what : "";
}
