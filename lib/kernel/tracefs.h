/* SPDX-License-Identifier: GPL-2.0 */
/* What the tracing file system has, wherever it is mounted. */
#ifndef NICPROBE_TRACEFS_H
#define NICPROBE_TRACEFS_H

#include <stdio.h>

extern const char *tracefs_dirs[];	/* where it may be; ends with NULL; tests have their own */

FILE *tracefs_open(const char *file);		/* to read; NULL: it is not there */
/* The number of an event, in whatever group: perf knows it by that. 0: it is no event. */
unsigned tracefs_event(const char *name);

#endif
