/* SPDX-License-Identifier: GPL-2.0 */
/* A group whose members may read what is pinned, and nothing else. */
#ifndef NICPROBE_GROUP_H
#define NICPROBE_GROUP_H

#include <sys/types.h>

struct error;

/*
 * Is there such a group, and can it get access? `root` is what pins_lock() opened.
 * 0 or -errno.
 */
int group_check(int root, const char *name, gid_t *, struct error *);
/* Gives it access to the maps in `dir`, and to the directories above them. 0 or -errno. */
int group_share(int root, const char *dir, gid_t, struct error *);

#endif
