/* SPDX-License-Identifier: GPL-2.0 */
/* Reads a file that may be compressed. */
#ifndef NICPROBE_UNPACK_H
#define NICPROBE_UNPACK_H

#include <stddef.h>

struct error;

#define UNPACK_MOST (256 << 20)	/* bytes: a vmlinux has 60 MB, a module with debug data as much */

/* The whole file, decompressed; free() it. NULL: an error, with a message. */
void *unpack_file(const char *path, size_t *size, struct error *);

#endif
