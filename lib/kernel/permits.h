/* SPDX-License-Identifier: GPL-2.0 */
/* Whether this process has the capabilities that it needs. */
#ifndef NICPROBE_PERMITS_H
#define NICPROBE_PERMITS_H

struct error;

/* 0; or -EPERM and an error that names the capabilities that are missing. */
int kernel_permits(struct error *);
/*
 * The same with CAP_SYS_ADMIN: for a command that mounts a BPF file system of its own, or has the
 * kernel time programs.
 */
int kernel_permits_all(struct error *);

#endif
