/* SPDX-License-Identifier: GPL-2.0 */
/* What the tracing file system has, wherever it is mounted. */
#include <dirent.h>
#include <stdio.h>

#include "lib/kernel/tracefs.h"
#include "lib/util/log.h"

const char *tracefs_dirs[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing", NULL };

FILE *tracefs_open(const char *file)
{
	FILE *f = NULL;

	for (const char *const *dir = tracefs_dirs; *dir && !f; dir++)
		f = fopen(text("%s/%s", *dir, file), "re");
	return f;
}

unsigned tracefs_event(const char *name)
{
	unsigned event = 0;

	for (const char *const *dir = tracefs_dirs; *dir && !event; dir++) {
		DIR *groups = opendir(text("%s/events", *dir));
		struct dirent *group;

		while (groups && !event && (group = readdir(groups))) {
			FILE *id = fopen(text("%s/events/%s/%s/id", *dir, group->d_name, name),
					 "re");

			if (id && fscanf(id, "%u", &event) != 1)
				event = 0;
			if (id)
				fclose(id);
		}
		if (groups)
			closedir(groups);
	}
	return event;
}
