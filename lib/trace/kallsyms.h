/* SPDX-License-Identifier: GPL-2.0 */
/* The symbols of the running kernel, one after the other. */
#ifndef NICPROBE_KALLSYMS_H
#define NICPROBE_KALLSYMS_H

#include <linux/types.h>
#include <stdbool.h>

extern const char *proc_kallsyms;	/* "/proc/kallsyms"; tests use their own */

struct kallsym {
	const char *name;		/* of a tracepoint: without the prefix of its function */
	const char *module;		/* "": the kernel itself */
	__u64 address;			/* 0: hidden from this user */
	char type;			/* as nm(1) names it: 't' or 'T' is a function */
	bool tracepoint;
};

/* Calls fn for each symbol of the kernel and its modules. 0, or -errno: it cannot be read. */
int kallsyms_each(void (*fn)(const struct kallsym *, void *arg), void *arg);

#endif
