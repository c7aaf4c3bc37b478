/* SPDX-License-Identifier: GPL-2.0 */
/* A line for each check: "ok NAME", or "not ok NAME: why". */
#ifndef CHECK_H
#define CHECK_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/util/log.h"

#ifndef SUBJECT		/* prefix of each NAME: "ledger " */
#define SUBJECT ""
#endif

static int failed;	/* count; return failed > 0, as an exit status has 8 bits */

static inline bool check(bool good, const char *name, const char *why)
{
	if (good)
		printf("ok " SUBJECT "%s\n", name);
	else
		printf("not ok " SUBJECT "%s: %s\n", name, why);
	failed += !good;
	return good;
}

/* For conditions that need no explanation. */
#define holds(good, name) check(good, name, "it is not so: " #good)

/* For mass checks: prints only failures. */
static inline bool must(bool good, const char *name, const char *why)
{
	return good || check(false, name, why);
}

static inline void same(const char *name, int64_t got, int64_t want)
{
	check(got == want, name, text("%" PRId64 ", not %" PRId64, got, want));
}

static inline void same_text(const char *name, const char *got, const char *want)
{
	check(!strcmp(got, want), name, text("\"%s\", not \"%s\"", got, want));
}

#endif
