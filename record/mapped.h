/* SPDX-License-Identifier: GPL-2.0 */
/* A file in memory, which others may cut while it is read. */
#ifndef NICPROBE_RECORD_MAPPED_H
#define NICPROBE_RECORD_MAPPED_H

#include <stddef.h>
#include <stdint.h>

struct error;

struct mapped {
	uint8_t *bytes;		/* NULL: it is empty */
	size_t size;
};

/*
 * The bytes of a regular file. Those that are cut off later, or that the disk cannot give, read as
 * zeros, which fit no checksum. 0, or -errno and a sentence.
 */
int mapped_open(const char *path, struct mapped *, struct error *);
int mapped_take(int fd, const char *path, struct mapped *, struct error *);
void mapped_close(struct mapped *);

#endif
