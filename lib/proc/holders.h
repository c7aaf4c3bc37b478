/* SPDX-License-Identifier: GPL-2.0 */
/* Which process has something, and how it does. */
#ifndef NICPROBE_HOLDERS_H
#define NICPROBE_HOLDERS_H

#include <linux/types.h>
#include <stdbool.h>

struct holder {
	int pid;
	char name[16];	/* as /proc/PID/stat has it, '?' for a control character; "": it is gone */
	bool stopped;	/* by a signal or a debugger */
};

/*
 * A process that has the socket of this inode open, as far as we may look: the first, if several
 * have. False: none is seen (it is another user's, or of a PID namespace that is not below ours).
 */
bool holder_find(__u32 inode, struct holder *);

/* Fills name and stopped of the process h->pid. */
void holder_look(struct holder *h);

#endif
