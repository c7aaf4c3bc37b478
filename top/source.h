/* SPDX-License-Identifier: GPL-2.0 */
/* Where top gets its snapshots from: the running kernel, or a recording. */
#ifndef NICPROBE_TOP_SOURCE_H
#define NICPROBE_TOP_SOURCE_H

#include <linux/if_link.h>
#include <stdbool.h>

#include "lib/read/snapshot.h"

struct error;

/* One interface at one moment. */
struct top_item {
	uint64_t boot_ns;		/* CLOCK_BOOTTIME */
	char name[96];			/* as a user would type it */
	char driver[32];
	unsigned rx_queues, tx_queues;
	bool up;
	struct snapshot *s;		/* totals since attach; NULL: it is not attached, then: */
	struct rtnl_link_stats64 link;	/* what the kernel counts anyway */
	char state[320];		/* what became of it; "": nothing */
	bool ours;			/* top attached it, and detaches it at its end */
	/* of a recording: its number there, the frame, and the first frame that joins it */
	unsigned number, frame, joined;
};

/* All interfaces at one moment. */
struct top_moment {
	struct timespec when;		/* CLOCK_REALTIME */
	unsigned nr;
	struct top_item **list;
	char remark[320];		/* what cannot be seen and why, or what happened; or "" */
};

struct top_source {
	/* The present moment; top_moment_free() in any case. 0 or -errno. */
	int (*read)(struct top_source *, struct top_moment *, struct error *);
	/*
	 * What was found between two moments of an interface. NULL: the window is judged. 0 or
	 * -errno.
	 */
	int (*found)(struct top_source *, const struct top_item *from, const struct top_item *to,
		     struct findings *);
	void *of;
};

/* Appends an interface, with a snapshot if it is attached; NULL: out of memory. */
struct top_item *top_item_add(struct top_moment *, bool attached);
void top_item_free(struct top_item *);
void top_moment_free(struct top_moment *);

#endif
