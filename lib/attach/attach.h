/* SPDX-License-Identifier: GPL-2.0 */
/* Attach and detach one interface. All functions act in the network namespace the process is in. */
#ifndef NICPROBE_ATTACH_H
#define NICPROBE_ATTACH_H

#include <stdbool.h>

#include "lib/core/meta.h"

struct error;
struct meter;
struct site;

struct request {
	__u64 meters;		/* 1 << METER_x: those wanted */
	__u64 added, removed;	/* beside `meters`, or what is attached; "-m +qdisc,-irq" */
	bool by_name;		/* asked for by name: what cannot be had is an error, not absent */
	const char *rx;		/* the hook for rx-nic: a name of HOOKS, or NULL: chosen */
	const char *group;	/* who may read what is pinned, a name or a number; NULL: nobody */
	const char *label;	/* the interface as it was typed, for errors */
	unsigned sample;	/* look at one packet in so many; 0: as each meter thinks best */
	bool stacks;		/* of drops, too */
	/* Of the driver: see struct probes_wanted */
	const char *functions, *timed;
	unsigned max_functions;
	void (*tell)(const char *);	/* what it will cost, before it begins; NULL: nobody asks */
};

/* 0 and what was done; or -errno, and nothing left behind. -EALREADY: attached. */
int attach_iface(const char *name, const struct request *, struct meta *done, struct error *);

/* Takes away what is there, whole or half: the hooks undo what unpinning does not. 0 or -errno. */
int attach_undo(const struct site *);

/*
 * One meter of those that are attached; what it cannot do is noted in `meta`, and an error if it
 * was asked for by name.
 */
int attach_one(const struct site *, const struct request *, const struct meter *, struct meta *);

/*
 * A meter that cannot be had: an error if it was asked for by name, else noted in `meta`. 0, or
 * -EOPNOTSUPP and a complaint.
 */
int meter_fails(const struct site *, const struct request *, const struct meter *, struct meta *,
		const char *why);

/* Why no point that the meter looks at is seen; NULL: one is. Of packet and derived meters. */
const char *meter_unseen(const struct meter *, const struct meta *);

/*
 * By the interface's name now, or the one it was attached under. 0; -ENOENT:
 * it is not attached; with `force` also pins that another version left.
 */
int detach_iface(__u32 netns, const char *name, bool force, struct error *);

/* What is in one directory of pins, its namespace entered if it can be. */
int detach_pins(const char *dir, __u32 netns, bool force, struct error *);

/* What became of an interface since it was attached. */
struct attached {
	enum { ATTACHED_HERE, ATTACHED_MOVED, ATTACHED_GONE, ATTACHED_UNKNOWN } is;
	char state[320];	/* a sentence; "": nothing */
	char now[96];		/* moved: where to attach it anew, as one would type it */
	unsigned rx_queues, tx_queues;	/* in use, where only now that is known; else 0 */
};

/* Enters its namespace and stays there. */
void attached_state(const struct meta *, struct attached *);
/* The same, where attached_state() was: by point, why what serves it does not see all; or "". */
void attached_blind(const struct meta *, const struct attached *, const char *dir,
		    char blind[NR_POINTS][BLIND_SIZE]);

#endif
