/* SPDX-License-Identifier: GPL-2.0 */
/* The BPF file system: mounted if allowed, and entered only where nobody else can write. */
#ifndef NICPROBE_BPFFS_H
#define NICPROBE_BPFFS_H

#include <stdbool.h>

struct error;

#define BPFFS "/sys/fs/bpf"

/* 0: it is mounted; 1: it is not; -ENODEV and an error: it must not be mounted here. */
int bpffs_missing(struct error *);
/* Mounts it if need be. 0 or -errno. */
int bpffs_mount(struct error *);
/*
 * Hides it, for this process, behind one of our own: what is attached from now on is seen by nobody
 * else, and ends with the process, however that ends. Needs CAP_SYS_ADMIN. 0 or -errno.
 */
int bpffs_own(struct error *);

/*
 * Opens a directory below BPFFS, name by name. Refuses symbolic links, other file systems, and
 * directories that somebody else owns or may write to. -ENOENT: it does not exist; else -errno and
 * an error. A path that is not below BPFFS is that of a descriptor: our own file system, which is
 * mounted nowhere.
 */
int bpffs_open(const char *dir, struct error *);
bool bpffs_below(const char *dir);

#endif
