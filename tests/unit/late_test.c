/* SPDX-License-Identifier: GPL-2.0 */
/* Libraries that are loaded when they are needed. */
#include <errno.h>
#include <string.h>

#include "lib/util/error.h"
#include "lib/util/late.h"

#define SUBJECT "late "
#include "check.h"

struct found {
	const char *(*version)(void);
	double (*none)(void);
};

static const struct late_symbol known[] = {
	{ "zlibVersion", offsetof(struct found, version) }, {}
}, unknown[] = {
	{ "zlibVersion", offsetof(struct found, version) },
	{ "zlib_has_no_such", offsetof(struct found, none) }, {}
};

static void refused(const char *library, const struct late_symbol *symbols, const char *why)
{
	struct late late = { library, "zlib1g", "packs", symbols };
	struct found found = {};
	struct error e = {};

	check(late_load(&late, &found, &e) == -ENOENT &&
	      strstr(e.what, "cannot load what packs: ") && strstr(e.what, why) &&
	      !strcmp(e.try, "apt-get install zlib1g"), library, e.what);
}

int main(void)
{
	struct late late = { "libz.so.1", "zlib1g", "packs", known };
	struct found found = {};
	struct error e = {};

	check(!late_load(&late, &found, &e) && found.version && *found.version() == '1',
	      "a library is loaded, and its function answers", e.what);
	refused("libz.so.1", unknown, "zlib_has_no_such");
	refused("libnone.so.1", known, "libnone.so.1");
	return failed > 0;
}
