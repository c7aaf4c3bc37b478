/* SPDX-License-Identifier: GPL-2.0 */
/* The programs that several meters and hooks share: one for each kernel event. */
#ifndef NICPROBE_EVENTS_H
#define NICPROBE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/core/abi.h"

/* Who wants an event: meters, and points served by tracepoints. */
struct users {
	__u64 meters;		/* 1 << METER_x */
	unsigned points;	/* 1 << enum point */
};

struct event {
	const char *program;	/* in the shared object, named after the kernel's event */
	struct users users;
};

extern const struct event event_list[];	/* ends with an empty one */
extern const void *(*const events_elf)(size_t *);	/* the shared object */

/*
 * Who wants a program of the shared object: as `event_list` says, else the meter that owns its
 * name. Also by a pin's name, "PROGRAM-SET".
 */
struct users event_users(const char *program);

struct meter;
/* Has the meter its programs in the shared object? */
bool meter_shares(const struct meter *);

/* Is a name the meter's, or that of a program or map of it: "drop", "drop_reasons"? */
bool meter_owns(const struct meter *, const char *name);

#endif
