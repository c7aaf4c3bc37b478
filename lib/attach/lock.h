/* SPDX-License-Identifier: GPL-2.0 */
/* A lock that is waited for, but not for ever: who has it is told. */
#ifndef NICPROBE_LOCK_H
#define NICPROBE_LOCK_H

#include <stdbool.h>

struct error;

/* Locks what `fd` is of, for one or for all that read. 0 or -errno. */
int lock_wait(int fd, const char *path, bool exclusive, struct error *);

#endif
