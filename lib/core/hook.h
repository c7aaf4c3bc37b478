/* SPDX-License-Identifier: GPL-2.0 */
/* What a hook is: a place where packets are seen, and how to attach there. */
#ifndef NICPROBE_HOOK_H
#define NICPROBE_HOOK_H

#include <stddef.h>

#include "lib/core/abi.h"
#include "lib/core/nic_driver.h"
#include "lib/net/iface.h"
#include "lib/net/queues.h"

struct bpf_object;
struct error;
struct request;
struct table;

struct site {			/* one interface, about to be measured */
	struct iface iface;
	const struct driver *driver;
	struct config config;
	struct queues queues;
	const struct request *request;	/* what was asked for */
	char pins[256];		/* the directory of its pins */
	unsigned set;		/* index in meta->set[] of what is being attached */
	bool soon;		/* its links may be made meanwhile: lib/attach/soon.h */
	bool gone;		/* its namespace is gone: in ours another may have its ifindex */
	struct table *figures;	/* [NR_METERS]: read by baseline_read(), not pinned yet */
	struct error *error;	/* the function that fails writes the reason here; NULL: nowhere */
};

struct hook {
	const char *name;	/* for --rx and NICPROBE_CANNOT */
	const char *help;
	unsigned points;	/* 1 << enum point of those it serves */
	/* Why it is used only when named; NULL: it is used by default. */
	const char *(*avoid)(const struct site *);
	/* Sets the members that only its programs read; NULL: none. */
	void (*configure)(struct config *);
	const void *(*elf)(size_t *);	/* its BPF object; NULL: the shared one, event.h */
	/* Shared object: the method of each point, "tp_btf/net_dev_queue". */
	const char *how[NR_POINTS];
	/*
	 * Own object: loads, attaches and pins; writes to `how` the method. 0 or -errno.
	 */
	int (*attach)(const struct site *, struct bpf_object *, char *how, size_t size);
	const char *link;	/* pin of its link to the interface; NULL: it has none */
	const char *filter;	/* pin of its program, if a tc filter holds it; else NULL */
	/*
	 * Why it no longer sees every packet at its point; NULL: it does. Called in the
	 * namespace of the interface, which was just read. `how` is what attach() wrote, or the
	 * program's event.
	 */
	const char *(*blind)(const struct site *, const char *how);
	/* The values of `how` that move along with the interface to another network namespace. */
	const char *const *along;	/* ends with NULL; NULL: none */
	/* Why this process cannot detach it; NULL: it can. `how` is what attach() wrote. */
	const char *(*keeps)(const char *how);
	/* Undoes what removing the pins does not, also after a partial attach. May be NULL. */
	void (*detach)(const struct site *);
};

#define H(name) extern const struct hook hook_##name;
HOOKS(H)
#undef H
extern const struct hook *const hooks[];	/* ends with NULL */

/* For hooks and meters alike: load, attach every chosen program, pin the links. 0 or -errno. */
int attach_links(const struct site *, struct bpf_object *);
/* The two halves of attach_links(): maps can be filled in between. */
int object_load(const struct site *, struct bpf_object *);
int object_attach(const struct site *, struct bpf_object *);
/* The path of a pin of this interface, in one of text()'s buffers. */
const char *pin_path(const struct site *, const char *name);

#endif
