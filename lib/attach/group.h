/* SPDX-License-Identifier: GPL-2.0 */
/* A group whose members may read what is pinned, and nothing else. */
#ifndef NICPROBE_GROUP_H
#define NICPROBE_GROUP_H

#include <sys/types.h>

struct error;

/*
 * Is there such a group, and can it be let in? `root` is what pins_lock() opened.
 * 0 or -errno.
 */
int group_check(int root, const char *name, gid_t *, struct error *);
/* Lets it in: to the maps in `dir`, and on the way there. 0 or -errno. */
int group_share(int root, const char *dir, gid_t, struct error *);

#endif
