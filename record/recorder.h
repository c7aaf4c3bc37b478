/* SPDX-License-Identifier: GPL-2.0 */
/* Writes a recording: frames and events are gathered, and a write() adds them to the file. */
#ifndef NICPROBE_RECORD_RECORDER_H
#define NICPROBE_RECORD_RECORDER_H

#include "lib/read/snapshot.h"

#define RECORD_FORMAT	1
#define OLDER_SUFFIX	".old"	/* of the file that has what came before, with --ring */

struct recorder_how {
	const char *path;
	double interval;		/* seconds between frames, for who reads it */
	double ring;			/* seconds that are kept, at least; 0: all */
};

struct recorder;

/*
 * Begins a file, or a run at the end of a recording of this host: then *had are its bytes, and
 * *cut how many were taken off because a write was not finished. NULL: an error.
 */
struct recorder *recorder_open(const struct recorder_how *, uint64_t *had, uint64_t *cut,
			       struct error *);

/* The totals of an interface, and the findings since its frame before; NULL: there are none. */
int recorder_frame(struct recorder *, const struct snapshot *, const struct findings *);
/* `iface`: its label; NULL: it is not about one. */
void recorder_event(struct recorder *, const char *iface, const char *kind, const char *what);
/* Writes what was gathered. 0, or -errno and an error: then the file is as it was before. */
int recorder_write(struct recorder *, struct error *);

uint64_t recorder_size(const struct recorder *);	/* bytes in the file */
unsigned recorder_frames(const struct recorder *);	/* of all interfaces, in this run */
void recorder_close(struct recorder *);

#endif
