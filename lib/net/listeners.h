/* SPDX-License-Identifier: GPL-2.0 */
/* TCP sockets that listen. */
#ifndef NICPROBE_LISTENERS_H
#define NICPROBE_LISTENERS_H

#include <linux/types.h>

struct listener {
	__u8 address[16];		/* IPv4 as ::ffff:192.0.2.1 */
	__u32 port, inode;
	__u32 waiting, limit;		/* connections in its accept queue, and its backlog */
	__u32 drops;			/* as the socket counts them, since it was opened */
};

/*
 * Calls `fn` for each, in the namespace the process is in; ends with the first value that is not 0,
 * and returns it. -errno: the kernel does not list them (CONFIG_INET_TCP_DIAG).
 */
int listeners_each(int (*fn)(const struct listener *, void *arg), void *arg);

#endif
