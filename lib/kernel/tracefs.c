/* SPDX-License-Identifier: GPL-2.0 */
/* What the tracing file system has, wherever it is mounted. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "lib/kernel/tracefs.h"
#include "lib/util/log.h"

const char *tracefs_dirs[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing", NULL };

/*
 * Where nothing mounted it: a mount that is attached nowhere, and goes with this process. NULL: not
 * to be had.
 */
static const char *unmounted(void)
{
	static char path[32];
	static bool tried;
	int fs, root = -1;

	if (tried)
		return *path ? path : NULL;
	tried = true;
	fs = fsopen("tracefs", FSOPEN_CLOEXEC);
	if (fs >= 0 && !fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		root = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	if (root >= 0)
		snprintf(path, sizeof(path), "/proc/self/fd/%d", root);
	if (fs >= 0)
		close(fs);
	return *path ? path : NULL;
}

/* The directories to look into, in this order; NULL: there are no more. */
static const char *directory(unsigned i)
{
	unsigned nr = 0;

	while (tracefs_dirs[nr])
		nr++;
	if (i < nr)
		return tracefs_dirs[i];
	if (i > nr)
		return NULL;
	for (i = 0; i < nr; i++)
		if (!access(text("%s/events", tracefs_dirs[i]), F_OK))
			return NULL;
	return unmounted();
}

FILE *tracefs_open(const char *file)
{
	const char *dir = directory(0);
	FILE *f = NULL;

	for (unsigned i = 0; dir && !f; dir = directory(++i))
		f = fopen(text("%s/%s", dir, file), "re");
	return f;
}

static unsigned id_read(const char *dir, const char *group, const char *event)
{
	FILE *f = fopen(text("%s/events/%s/%s/id", dir, group, event), "re");
	unsigned id = 0;

	if (f && fscanf(f, "%u", &id) != 1)
		id = 0;
	if (f)
		fclose(f);
	return id;
}

unsigned tracefs_event(const char *name)
{
	const char *dir = directory(0);
	unsigned event = 0;

	for (unsigned i = 0; dir && !event; dir = directory(++i)) {
		DIR *groups = opendir(text("%s/events", dir));
		struct dirent *group;

		while (groups && !event && (group = readdir(groups)))
			event = id_read(dir, group->d_name, name);
		if (groups)
			closedir(groups);
	}
	return event;
}

unsigned tracefs_event_of(const char *group, const char *name)
{
	const char *dir = directory(0);
	unsigned event = 0;

	for (unsigned i = 0; dir && !event; dir = directory(++i))
		event = id_read(dir, group, name);
	return event;
}

unsigned syscall_arguments(const char *event)
{
	FILE *f = tracefs_open(text("events/syscalls/%s/format", event));
	unsigned offset, size, nr = 0;
	char line[256];

	/* the arguments are of 8 bytes, and stand behind the number of the call */
	while (f && fgets(line, sizeof(line), f)) {
		const char *at = strstr(line, "offset:");

		if (at && sscanf(at, "offset:%u; size:%u;", &offset, &size) == 2 && offset >= 16 &&
		    size == 8 && !strstr(line, "__data_loc"))
			nr++;
	}
	if (f)
		fclose(f);
	return nr;
}

static int each_within(const char *path, int (*each)(const char *name, void *arg), void *arg)
{
	const char *dir = directory(0);
	struct dirent *event;
	DIR *events = NULL;
	int result = 0;

	for (unsigned i = 0; dir && !events; dir = directory(++i))
		events = opendir(text("%s/events%s%s", dir, *path ? "/" : "", path));
	if (!events)
		return -ENOENT;
	while (!result && (event = readdir(events)))
		if (event->d_name[0] != '.' && event->d_type == DT_DIR)
			result = each(event->d_name, arg);
	closedir(events);
	return result;
}

int tracefs_events(const char *group, int (*each)(const char *event, void *arg), void *arg)
{
	return each_within(group, each, arg);
}

int tracefs_groups(int (*each)(const char *group, void *arg), void *arg)
{
	return each_within("", each, arg);
}
