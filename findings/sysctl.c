/* SPDX-License-Identifier: GPL-2.0 */
/* Values of /proc/sys, as findings need them before they advise a change. */
#include <stdio.h>
#include <sys/stat.h>

#include "findings/evidence.h"
#include "lib/util/log.h"

static bool numbers_read(const char *path, unsigned long *values, unsigned nr)
{
	FILE *file = fopen(path, "re");
	unsigned got = 0;

	while (file && got < nr && fscanf(file, "%lu", &values[got]) == 1)
		got++;
	if (file)
		fclose(file);
	return got == nr;
}

/* A namespace shows some of the host's values read-only: only the host can set them. */
static bool is_settable(const char *path)
{
	struct stat st;

	return !stat(path, &st) && st.st_mode & S_IWUSR;
}

bool sysctl_values(const struct evidence *e, const char *name, unsigned long *values, unsigned nr,
		   bool *host)
{
	const char *path = text("/proc/sys/%s", name);
	bool there, got;
	int home = evidence_enter(e, &there);

	got = there && numbers_read(path, values, nr);
	*host = !got || (home >= 0 && !is_settable(path));
	evidence_leave(home);
	return got || numbers_read(path, values, nr);
}

unsigned long sysctl_value(const struct evidence *e, const char *name, bool *host)
{
	unsigned long value;

	return sysctl_values(e, name, &value, 1, host) ? value : 0;
}
