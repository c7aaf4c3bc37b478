/* SPDX-License-Identifier: GPL-2.0 */
/* Reads a file or pipe to its end. */
#ifndef NICPROBE_SLURP_H
#define NICPROBE_SLURP_H

#include <stddef.h>
#include <stdio.h>

/* Everything up to `most` bytes; free() it. NULL: -errno in *err; -EFBIG: there is more. */
void *slurp(int fd, size_t most, size_t *size, int *err);

/* Opens a file for its lines, of which `room` takes many: /proc makes them all for each read(). */
FILE *lines_open(const char *path, char *room, size_t size);

#endif
