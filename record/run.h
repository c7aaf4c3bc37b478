/* SPDX-License-Identifier: GPL-2.0 */
/* The beginning of a run: where and by what it was recorded; and whether a file is a recording. */
#ifndef NICPROBE_RECORD_RUN_H
#define NICPROBE_RECORD_RUN_H

#include <stdint.h>

#include "record/bytes.h"

struct run_about {
	unsigned format;
	char version[32], host[72], machine_id[40], kernel[72], machine[72];
	double interval;
	uint64_t id;		/* of the run: the files of a ring have the same */
};

struct error;

/* Of this host, now. */
void run_put(struct bytes *, double interval, uint64_t id);
bool run_take(struct run_about *, struct reading_of *);

/*
 * Is it a recording that this version reads? 0, or -errno and a sentence. `path` is for errors.
 */
int run_read(const char *path, const uint8_t *file, size_t size, struct run_about *,
	     struct error *);
/*
 * Can a run be added to this file? *whole: the end of its last whole block; *began: when it begins,
 * ns of CLOCK_REALTIME. 0 or -errno.
 */
int run_check(const char *path, int fd, uint64_t *whole, uint64_t *began, struct error *);

#endif
