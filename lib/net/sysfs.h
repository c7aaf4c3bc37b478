/* SPDX-License-Identifier: GPL-2.0 */
/* What sysfs has of one interface, in the network namespace the process is in. */
#ifndef NICPROBE_SYSFS_H
#define NICPROBE_SYSFS_H

#include <dirent.h>
#include <stdbool.h>

/* The directory of an interface, to close(); -1: none, or it is that of another of this name. */
int sysfs_open(const char *iface, unsigned ifindex);

/* The inode of such a directory, of which the kernel gives no other the same; 0: not to be had. */
unsigned long long sysfs_inode(int dir);

/* A number that stands in a file below it; 0: there is none. */
unsigned long sysfs_number(int dir, const char *file);

/* The first line of a file below it; "" and false: there is none, or it cannot be read. */
bool sysfs_line(int dir, const char *file, char *line, size_t size);
/* What a link below it leads to, the last part: "0000:03:00.0"; "" and false: it is no link. */
bool sysfs_link(int dir, const char *link, char *name, size_t size);

/* A directory below it, to closedir(); NULL: there is none. */
DIR *sysfs_dir(int dir, const char *path);

#endif
