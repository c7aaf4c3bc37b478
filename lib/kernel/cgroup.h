/* SPDX-License-Identifier: GPL-2.0 */
/* The root of the cgroup2 hierarchy, where programs see the sockets of all cgroups. */
#ifndef NICPROBE_CGROUP_H
#define NICPROBE_CGROUP_H

/* Opens it, whether it is mounted or not: close() it. -1 and errno. */
int cgroup_open(void);
/* Why it cannot be opened, as text(); NULL: it can. */
const char *cgroup_missing(void);

#endif
