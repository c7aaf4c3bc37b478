/* SPDX-License-Identifier: GPL-2.0 */
/* Processes that hold sockets, and their state. */
#ifndef NICPROBE_HOLDERS_H
#define NICPROBE_HOLDERS_H

#include <linux/types.h>
#include <stdbool.h>

struct holder {
	int pid;
	char name[16];	/* from /proc/PID/stat, control characters as '?'; "": it is gone */
	bool stopped;	/* by a signal or a debugger */
};

/*
 * A process that has the socket with this inode open; the first, if several have. False: none
 * visible (it belongs to another user, or to a PID namespace outside ours).
 */
bool holder_find(__u32 inode, struct holder *);

/* Fills in name and stopped of process h->pid. */
void holder_look(struct holder *h);

#endif
