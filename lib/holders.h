/* SPDX-License-Identifier: GPL-2.0 */
/* Which process has a socket open. */
#ifndef NICPROBE_HOLDERS_H
#define NICPROBE_HOLDERS_H

#include <linux/types.h>
#include <stdbool.h>

struct holder {
	int pid;
	char name[16];	/* as /proc/PID/comm has it; control characters are left out */
};

/*
 * A process that has the socket of this inode open, as far as we may look: the first, if several
 * have. False: none is seen (it is another user's, or of a PID namespace that is not below ours).
 */
bool holder_find(__u32 inode, struct holder *);

#endif
