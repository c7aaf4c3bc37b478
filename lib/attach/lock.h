/* SPDX-License-Identifier: GPL-2.0 */
/* A lock with a limited wait: the error names the process that holds it. */
#ifndef NICPROBE_LOCK_H
#define NICPROBE_LOCK_H

#include <stdbool.h>

struct error;

/* Locks the file of `fd`, exclusively or shared. 0 or -errno. */
int lock_wait(int fd, const char *path, bool exclusive, struct error *);

#endif
