/* SPDX-License-Identifier: GPL-2.0 */
/* Attach and detach one interface. All functions act in the network namespace the process is in. */
#ifndef NICPROBE_ATTACH_H
#define NICPROBE_ATTACH_H

#include <stdbool.h>

#include "lib/core/meta.h"
#include "lib/net/iface.h"

struct error;
struct meter;
struct site;

struct request {
	__u64 meters;		/* 1 << METER_x of those requested */
	__u64 added, removed;	/* changes to `meters`, or to what is attached; "-m +qdisc,-irq" */
	bool by_name;		/* `meters` were named: one that cannot be had is an error */
	const char *rx;		/* the hook for rx-nic: a name of HOOKS, or NULL: chosen */
	const char *group;	/* who may read what is pinned, a name or a number; NULL: nobody */
	const char *label;	/* the interface as it was typed, for errors */
	unsigned sample;	/* look at one packet in this many; 0: not said */
	bool adapts;		/* said: as many as they may; so do meters if nothing is said */
	unsigned budget;	/* …in this many millionths of each CPU; 0: PACE_RATE packets/s */
	bool stacks;		/* of drops, too */
	bool aside;		/* by tracepoints alone: nothing is put into the packets' path */
	bool idle;		/* also meters that have nothing to count as things are */
	/* For the meter driver: see struct probes_wanted */
	const char *functions, *timed;
	unsigned max_functions;
	void (*tell)(const char *);	/* is called with the cost, before attaching; NULL: not */
};

/* 0 and what was done; or -errno, with nothing left behind. -EALREADY: it is attached already. */
int attach_iface(const char *name, const struct request *, struct meta *done, struct error *);

/* Removes a whole or partial attach: the hooks undo what unpinning does not. 0 or -errno. */
int attach_undo(const struct site *);

/*
 * Attaches one meter. If it cannot be had, that is noted in `meta`, or an error if the meter was
 * requested by name.
 */
int attach_one(const struct site *, const struct request *, const struct meter *, struct meta *);

/*
 * Reports a meter that cannot be had: by an error if it was requested by name, else by a note in
 * `meta`. 0, or -EOPNOTSUPP and an error.
 */
int meter_fails(const struct site *, const struct request *, const struct meter *, struct meta *,
		const char *why);

/* Why it cannot be had there, without trying; NULL: it may. */
const char *meter_misfit(const struct site *, const struct meter *);

/* Why no point that the meter looks at is seen; NULL: one is. Of packet and derived meters. */
const char *meter_unseen(const struct meter *, const struct meta *);

/*
 * Detaches an interface by its present name, or the one it was attached under;
 * with `force` also removes pins of another version. 0; -ENOENT: not attached.
 */
int detach_iface(__u32 netns, const char *name, bool force, struct error *);

/* Detaches what one directory of pins holds; enters its namespace if possible. */
int detach_pins(const char *dir, __u32 netns, bool force, struct error *);

/* What became of an interface since it was attached. */
struct attached {
	enum { ATTACHED_HERE, ATTACHED_MOVED, ATTACHED_GONE, ATTACHED_UNKNOWN } is;
	char state[320];	/* a sentence; "": nothing */
	char now[96];		/* moved: where to attach it again, as one would type it */
	unsigned rx_queues, tx_queues;	/* in use, if not known at attach; else 0 */
	struct iface iface;	/* as it is now; .ifindex 0: there is no such interface */
};

/* Enters the namespace of the interface and stays there. */
void attached_state(const struct meta *, struct attached *);
/* After attached_state(): for each point, why its hook does not see every packet; else "". */
void attached_blind(const struct meta *, const struct attached *, const char *dir,
		    char blind[NR_POINTS][BLIND_SIZE]);

#endif
