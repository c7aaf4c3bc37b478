/* SPDX-License-Identifier: GPL-2.0 */
/* The system calls of the machine that this was built for, by name and number. */
#ifndef NICPROBE_PROBES_SYSCALLS_H
#define NICPROBE_PROBES_SYSCALLS_H

#include <linux/types.h>
#include <stdbool.h>

struct near;

const char *syscall_name(__u32 number);		/* NULL: not known */
int syscall_number(const char *name);		/* -1: there is none of this name */
/* Is there one that this pattern names, on any machine? */
bool syscall_known(const char *pattern);
void syscalls_near(struct near *);

#endif
