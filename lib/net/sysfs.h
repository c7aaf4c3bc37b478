/* SPDX-License-Identifier: GPL-2.0 */
/* Sysfs files of one interface, in the network namespace the process is in. */
#ifndef NICPROBE_SYSFS_H
#define NICPROBE_SYSFS_H

#include <dirent.h>
#include <stdbool.h>

/* The directory of an interface, to close(); -1: none, or that of another one with this name. */
int sysfs_open(const char *iface, unsigned ifindex);

/* The inode of such a directory, which the kernel does not reuse; 0: unknown. */
unsigned long long sysfs_inode(int dir);

/* A number in a file below it; 0: none. */
unsigned long sysfs_number(int dir, const char *file);

/* The first line of a file below it; "" and false: missing or not readable. */
bool sysfs_line(int dir, const char *file, char *line, size_t size);
/* The last component of a link's target: "0000:03:00.0"; "" and false: not a link. */
bool sysfs_link(int dir, const char *link, char *name, size_t size);

/* A directory below it, to closedir(); NULL: none. */
DIR *sysfs_dir(int dir, const char *path);

#endif
