/* SPDX-License-Identifier: GPL-2.0 */
/* Functions and tracepoints of a driver, chosen by name from those the running kernel has. */
#ifndef NICPROBE_PROBES_H
#define NICPROBE_PROBES_H

#include <stdbool.h>

#include "lib/core/nic_driver.h"

#define PROBES_MAX	512	/* functions, unless --max-functions says */

struct bpf_insn;

/* A place to attach to. Functions of one name and module are several places, and one row. */
struct probe {
	char name[96], module[56];	/* module "": the kernel itself */
	__u64 address;
	__u32 row;
	__u32 time;			/* timed: its row among these */
	__u32 event;			/* tracepoint: its number in tracefs */
	enum driver_does does;
	bool tracepoint, timed, copy;	/* copy: not the first place of its row */
	bool known;			/* the driver's table names it, no glob does */
	bool traceable;
	bool refused;			/* not attached: the kernel did not let us */
};

struct probes {
	struct probe *list;	/* by name */
	unsigned nr;
	unsigned rows, times;		/* times: rows that are timed */
	unsigned functions, tracepoints;	/* places */
	unsigned known, missing;	/* of the driver's table; not chosen by name: 0 */
	unsigned refused;
};

struct probes_wanted {
	const struct driver *driver;
	const char *module;	/* that the driver is: also where nothing else is known of it */
	/* Globs with commas between, "MODULE:GLOB" for one module ("vmlinux": the kernel). */
	const char *functions;	/* instead of those known of the driver; NULL: these */
	const char *timed;	/* besides, and their durations; NULL: none */
	unsigned max;		/* places; 0: PROBES_MAX */
	const char *cannot;	/* why no function can be had, only tracepoints; NULL: they can */
};

/* Does one of `globs` fit it? `nr`: which one, the first; NULL: of no interest. */
bool probes_fit(const char *globs, const char *name, const char *module, unsigned *nr);

/* 0 or -errno and a complaint; probes_free() it either way. */
int probes_choose(struct probes *, const struct probes_wanted *);
void probes_free(struct probes *);

/* NULL: functions can be attached to; else why not. */
const char *probes_cannot(void);

/* The three programs to attach; they have a cookie: the row, and above 32 bits that of the time. */
struct probes_programs {
	const struct bpf_insn *enter, *begin, *end;	/* end: where what began returns */
	unsigned nr_enter, nr_begin, nr_end;
};

/*
 * Attaches all; what the kernel refuses is marked, and no error unless it is all. `keep` has
 * each link, and closes it. 0 or -errno and a complaint.
 */
int probes_attach(struct probes *, const struct probes_programs *, int (*keep)(int link, void *),
		  void *arg);

/* "14 functions by kprobe.multi, about 60 ns a call; …": how they will be attached. */
void probes_plan(const struct probes *, char *plan, unsigned size);

#endif
