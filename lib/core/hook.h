/* SPDX-License-Identifier: GPL-2.0 */
/* A place where packets can be seen. */
#ifndef NICPROBE_HOOK_H
#define NICPROBE_HOOK_H

#include <stddef.h>

#include "lib/core/abi.h"
#include "lib/core/nic_driver.h"
#include "lib/net/iface.h"
#include "lib/net/queues.h"

struct bpf_object;
struct request;
struct table;

/* Every hook; for a point, best first. A new one is a file and a word here. */
#define HOOKS(T) T(xdp) T(driver_rx) T(xdp_generic) T(tc) T(stack_rx) T(xmit)

struct site {			/* one interface, about to be measured */
	struct iface iface;
	const struct driver *driver;
	struct config config;
	struct queues queues;
	const struct request *request;	/* what was asked for */
	char pins[256];		/* the directory of its pins */
	bool gone;		/* with its namespace: the one we are in has others of its index */
	struct table *figures;	/* [NR_METERS]: read by baseline_read(), and not pinned yet */
};

struct hook {
	const char *name;	/* what --rx and NICPROBE_CANNOT take */
	const char *help;
	unsigned points;	/* 1 << enum point: those it serves */
	/* Why it is not taken unless asked for by name; NULL: it is. */
	const char *(*avoid)(const struct site *);
	const void *(*elf)(size_t *);
	/* The program that serves a point: its section says by what. */
	const char *program[NR_POINTS];
	/*
	 * Loads, attaches, pins; and says in `how` by what, where no program says
	 * it. 0, or -errno and a complaint. NULL: attach_links() does it all.
	 */
	int (*attach)(const struct site *, struct bpf_object *, char *how, size_t size);
	/*
	 * Of what is attached, in the namespace of its interface: why it does not see all packets
	 * at its point any more; NULL: it does. `how` is what attach() said, or the program.
	 */
	const char *(*blind)(const struct site *, const char *how);
	/* Undoes what unpinning does not, also half of it; NULL: there is nothing such. */
	void (*detach)(const struct site *);
};

#define T(name) extern const struct hook hook_##name;
HOOKS(T)
#undef T
extern const struct hook *const hooks[];	/* ends with NULL */

/* For hooks and meters alike: load, attach every chosen program, pin the links. 0 or -errno. */
int attach_links(const struct site *, struct bpf_object *);
/* The two halves of it: between them maps can be filled. */
int object_load(const struct site *, struct bpf_object *);
int object_attach(const struct site *, struct bpf_object *);
/* The path of a pin of this interface, in a buffer that goes round. */
const char *pin_path(const struct site *, const char *name);

#endif
