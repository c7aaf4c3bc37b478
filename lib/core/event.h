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

/* What its users want a program for depends on the interface: */
struct event_condition {
	const char *program;
	struct users users;
	unsigned word;		/* …these want it only if this word of struct config, by offset… */
	bool is;		/* …is set, or if it is not */
};

extern const struct event event_list[];		/* both end with an empty one */
extern const struct event_condition event_conditions[];
/* Does any of these meters want the program at tc to count buffers (config.buffers_at_tc)? */
bool event_at_tc(__u64 meters);
/* The shared object of interfaces, and that of the host. */
extern const void *(*const events_elf)(size_t *);
extern const void *(*const host_elf)(size_t *);

/*
 * The users of a program of the shared object: those in `event_list`, else the meter that owns its
 * name. The name may also be that of a pin, "PROGRAM-SET".
 */
struct users event_users(const char *program);

/* Those that want it of an interface of this configuration. */
struct users event_users_of(const char *program, const struct config *);

/* Are any of these among them? */
bool event_wanted(const char *program, const struct users *, const struct config *);

struct meter;
/* Are the meter's programs in the shared object? */
bool meter_shares(const struct meter *);

/* Is this the name of the meter, of a program or of a map of it: "drop", "drop_reasons"? */
bool meter_owns(const struct meter *, const char *name);

#endif
