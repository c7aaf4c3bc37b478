/* SPDX-License-Identifier: GPL-2.0 */
/* Calls of a driver's functions, and the time in selected ones. */
#ifndef NICPROBE_BPF_DRIVER_H
#define NICPROBE_BPF_DRIVER_H

#include "lib/core/abi.h"

#define DRIVER_DEEP	16	/* limit of nested timed functions per task */
#define DRIVER_TASKS	4096	/* tasks remembered, least recently used evicted */

/* The map "driver": one row per function. `show` adds its times from the map driver_times. */
struct driver_calls {
	__u64 calls;
	__u64 lost;	/* timed calls whose return was not seen */
};

struct driver_times {
	HIST(time, LOGLIN_SLOTS);
};

struct driver_row {
	struct driver_calls calls;
	struct driver_times times;
};

/* Describes a row to `show`. */
struct driver_function {
	char name[96], module[56];	/* module "": the kernel itself */
	__u64 inode;			/* of the module in sysfs; 0: none */
	__u32 time;			/* its row in driver_times, + 1; 0: it is not timed */
	__u16 does;			/* enum driver_does */
	__u16 tracepoint;
};

/* The stack of timed functions that a task is in; interrupts are on top. */
struct driver_frames {
	__u32 deep;
	__u32 unused;
	struct driver_frame {
		__u64 since;
		__u32 row, unused;
	} frame[DRIVER_DEEP];
};

/* The module of a key if it was unloaded and is no longer counted; else NULL. */
const char *driver_row_gone(const void *key);

#endif
