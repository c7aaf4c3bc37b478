/* SPDX-License-Identifier: GPL-2.0 */
/* Calls of a driver's functions, and the time in those chosen. */
#ifndef NICPROBE_BPF_DRIVER_H
#define NICPROBE_BPF_DRIVER_H

#include "lib/core/abi.h"

#define DRIVER_DEEP	16	/* timed functions that a task is in at once, at most */
#define DRIVER_TASKS	4096	/* that were in one of them last */

/* The map "driver": one row a function. What `show` reads has its times, too, from the next map. */
struct driver_calls {
	__u64 calls;
	__u64 lost;	/* of those timed: they ended unseen */
};

struct driver_times {
	HIST(time, LOGLIN_SLOTS);
};

struct driver_row {
	struct driver_calls calls;
	struct driver_times times;
};

/* What `show` is told of a row. */
struct driver_function {
	char name[96], module[56];	/* module "": the kernel itself */
	__u64 inode;			/* of the module in sysfs; 0: none */
	__u32 time;			/* its row in driver_times, and 1; 0: it is not timed */
	__u16 does;			/* enum driver_does */
	__u16 tracepoint;
};

/* The functions that a task is in, in the order it came there; interrupts stand on top. */
struct driver_frames {
	__u32 deep;
	__u32 unused;
	struct driver_frame {
		__u64 since;
		__u32 row, unused;
	} frame[DRIVER_DEEP];
};

/* The module of a key of `show`, if it was unloaded: it is counted no more. Else NULL. */
const char *driver_row_gone(const void *key);

#endif
