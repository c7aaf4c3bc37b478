/* SPDX-License-Identifier: GPL-2.0 */
/* Reads /proc/net/snmp and netstat, which have a line of names and one of values, and lists. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/proc/nstat.h"
#include "lib/util/log.h"
#include "lib/util/shortage.h"
#include "lib/util/slurp.h"

#define ROOM	16384		/* these files, with much to spare */
#define LINE	8192		/* the longest line of /proc/net/netstat has 3 KB */

/* A line of names, a line of values, both after "Group:". */
static int pairs_each(const char *path, int (*fn)(const char *, uint64_t, void *), void *arg)
{
	static char names[LINE], values[LINE];
	static char room[ROOM];
	FILE *f = lines_open(path, room, sizeof(room));
	int err = 0;

	if (!f)
		short_of(errno, text("open %s", path));
	while (f && !err && fgets(names, LINE, f) && fgets(values, LINE, f)) {
		char *n, *v, *name = strtok_r(names, " \n", &n);
		char *value = strtok_r(values, " \n", &v);
		char group[24];

		snprintf(group, sizeof(group), "%.*s", name ? (int)strcspn(name, ":") : 0,
			 name ?: "");
		while (!err && name && value) {
			uint64_t nr;

			name = strtok_r(NULL, " \n", &n);
			value = strtok_r(NULL, " \n", &v);
			nr = value ? strtoull(value, NULL, 10) : 0;
			if (name && nr)		/* most are 0: no text for these */
				err = fn(text("%s%s", group, name), nr, arg);
		}
	}
	if (f)
		fclose(f);
	return err;
}

int nstat_list_each(const char *path, int (*fn)(const char *, uint64_t, void *), void *arg)
{
	static char room[ROOM];
	FILE *f = lines_open(path, room, sizeof(room));
	char line[160];
	int err = 0;

	if (!f)
		short_of(errno, text("open %s", path));
	while (f && !err && fgets(line, sizeof(line), f)) {
		char *save, *name = strtok_r(line, " \t\n", &save);
		const char *value = strtok_r(NULL, " \t\n", &save);
		uint64_t nr = name && value ? strtoull(value, NULL, 10) : 0;

		if (nr)
			err = fn(name, nr, arg);
	}
	if (f)
		fclose(f);
	return err;
}

int nstat_each(int (*fn)(const char *, uint64_t, void *), void *arg)
{
	return pairs_each("/proc/net/snmp", fn, arg) ?: pairs_each("/proc/net/netstat", fn, arg) ?:
	       nstat_list_each("/proc/net/snmp6", fn, arg);
}
