/* SPDX-License-Identifier: GPL-2.0 */
/* The programs that several meters and hooks share: one for each kernel event. */
#ifndef NICPROBE_EVENTS_H
#define NICPROBE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/core/abi.h"

/* The users of an event: meters, and points that tracepoints serve. */
struct users {
	__u64 meters;		/* 1 << METER_x */
	unsigned points;	/* 1 << enum point */
};

struct event {
	const char *program;	/* in the shared object, named after the kernel's event */
	struct users users;
};

extern const struct event event_list[];	/* ends with an empty one */
/* Of its programs, the users given here want them only if the interface has a NAPI… */
extern const struct event event_of_polls[];
/* …or only if the program at tc does not count the buffers for them. */
extern const struct event event_without_tc[];
/* Does it count them for any of these meters? */
bool event_at_tc(__u64 meters);
/* The shared object of interfaces, and that of the host. */
extern const void *(*const events_elf)(size_t *);
extern const void *(*const host_elf)(size_t *);

/*
 * The users of a program of the shared object: those in `event_list`, else the meter that owns its
 * name. The name may also be that of a pin, "PROGRAM-SET".
 */
struct users event_users(const char *program);

/* Do these users want it of an interface of this configuration? */
bool event_wanted(const char *program, const struct users *, const struct config *);

struct meter;
/* Are the meter's programs in the shared object? */
bool meter_shares(const struct meter *);

/* Is this the name of the meter, of a program or of a map of it: "drop", "drop_reasons"? */
bool meter_owns(const struct meter *, const char *name);

#endif
