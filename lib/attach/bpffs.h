/* SPDX-License-Identifier: GPL-2.0 */
/* The BPF file system: mounted where it may be, entered only where nobody else can have built. */
#ifndef NICPROBE_BPFFS_H
#define NICPROBE_BPFFS_H

#include <stdbool.h>

struct error;

#define BPFFS "/sys/fs/bpf"

/* 0: it is there; -ENODEV and an error: not, and it must not be mounted here; 1: not. */
int bpffs_missing(struct error *);
/* Mounts it if need be. 0 or -errno. */
int bpffs_mount(struct error *);

/*
 * Opens a directory below BPFFS, name by name: no symbolic link, on no other file system, and of
 * none that somebody else owns or may write to. -ENOENT: it is not there; else -errno and
 * an error. What is not below BPFFS is mounted nowhere, and opened by its descriptor's path.
 */
int bpffs_open(const char *dir, struct error *);
bool bpffs_below(const char *dir);

#endif
