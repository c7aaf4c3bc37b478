/* SPDX-License-Identifier: GPL-2.0 */
/* What the tracing file system has, wherever it is mounted. */
#ifndef NICPROBE_TRACEFS_H
#define NICPROBE_TRACEFS_H

#include <stdio.h>

extern const char *tracefs_dirs[];	/* where it may be; ends with NULL; tests have their own */

FILE *tracefs_open(const char *file);		/* to read; NULL: it is not there */
/* The number of an event, in whatever group: perf knows it by that. 0: it is no event. */
unsigned tracefs_event(const char *name);
unsigned tracefs_event_of(const char *group, const char *name);	/* the same in this group */
unsigned syscall_arguments(const char *event);	/* how many sys_enter_NAME has */
/*
 * Calls `each` with the name of every event of a group, until it returns another value than 0,
 * which is then the result. -ENOENT: there is no such group.
 */
int tracefs_events(const char *group, int (*each)(const char *event, void *arg), void *arg);
/* The same with the name of every group. */
int tracefs_groups(int (*each)(const char *group, void *arg), void *arg);

#endif
