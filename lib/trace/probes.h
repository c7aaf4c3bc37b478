/* SPDX-License-Identifier: GPL-2.0 */
/* Functions and tracepoints of a driver, selected by name from those the running kernel has. */
#ifndef NICPROBE_PROBES_H
#define NICPROBE_PROBES_H

#include <stdbool.h>

#include "lib/core/nic_driver.h"

#define PROBES_MAX	512	/* functions, unless --max-functions sets it */

struct bpf_insn;
struct error;

/* A place to attach to. Functions with the same name and module are several places, but one row. */
struct probe {
	char name[96], module[56];	/* module "": the kernel itself */
	__u64 address;
	__u32 row;
	__u32 time;			/* its row among those timed */
	__u32 event;			/* of a tracepoint: its ID in tracefs */
	enum driver_does does;
	bool tracepoint, timed, copy;	/* copy: not the first place of its row */
	bool known;			/* from the driver's table, not from a glob */
	bool traceable;
	bool refused;			/* the kernel refused to attach it */
};

struct probes {
	struct probe *list;	/* by name */
	unsigned nr;
	unsigned rows, times;		/* times: rows that are timed */
	unsigned functions, tracepoints;	/* places */
	unsigned known, missing;	/* entries of the driver's table; 0 if selected by globs */
	unsigned refused;
};

struct probes_wanted {
	const struct driver *driver;
	const char *module;	/* the driver's module, even if it has no table */
	/* Globs separated by commas, "MODULE:GLOB" for one module ("vmlinux": the kernel). */
	const char *functions;	/* replaces the driver's table; NULL: the table */
	const char *timed;	/* added, and timed; NULL: none */
	unsigned max;		/* places; 0: PROBES_MAX */
	const char *cannot;	/* why there are only tracepoints, not functions; NULL: both */
};

/* Does one of `globs` match? `nr`: the first that does; may be NULL. */
bool probes_fit(const char *globs, const char *name, const char *module, unsigned *nr);

/* 0 or -errno with an error message; call probes_free() in any case. */
int probes_choose(struct probes *, const struct probes_wanted *, struct error *);
void probes_free(struct probes *);

/* NULL: functions can be attached to; otherwise why not. */
const char *probes_cannot(void);

/* The programs to attach. Their cookie is the row, and in the upper 32 bits the timed row. */
enum { PROBE_ENTER, PROBE_BEGIN, PROBE_END, NR_PROBE_PROGRAMS };	/* begin, end: if timed */

struct probe_program {
	const char *name;
	const struct bpf_insn *insns;
	unsigned nr;
};

/*
 * Attaches all. What the kernel refuses is marked; it is an error only if all are refused. `keep`
 * gets each link, and closes it. 0 or -errno with an error message.
 */
int probes_attach(struct probes *, const struct probe_program [NR_PROBE_PROGRAMS],
		  int (*keep)(int link, void *), void *arg, struct error *);

/* "14 functions by kprobe.multi, about 60 ns per call; …": how they will be attached. */
void probes_plan(const struct probes *, char *plan, unsigned size);

#endif
