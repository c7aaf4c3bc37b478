/* SPDX-License-Identifier: GPL-2.0 */
/* What attach leaves behind for the other commands: the value of the pinned map "meta". */
#ifndef NICPROBE_META_H
#define NICPROBE_META_H

#include "lib/core/event.h"

#define NICPROBE_VERSION "0.1"

#define META_MAGIC	0x6e696370	/* "nicp" */
/* For changes that meta_version() does not see: the order of members here, values of other maps. */
#define META_VERSION	15

/*
 * The users of one load of the shared object are a set. There is one set, and more for meters that
 * were added later or that the kernel loads only by themselves.
 */
#define MAX_SETS	24

#define BLIND_SIZE	160		/* a sentence: why a hook does not see all */

/* pace.h; if nobody asked, meters with a default of their own keep to that. */
enum adapts { ADAPTS = 1, ADAPTS_ASKED };

struct meta {
	__u32 magic, version;
	__u32 ifindex, netns;		/* netns: inode of the network namespace */
	__u32 rx_queues, tx_queues;	/* in use when attached */
	__u32 host;			/* no interface, but the host (iface.h): ifindex is 0 */
	__u32 down;			/* hardware that was down: it may use fewer once it is up */
	__u32 rows;			/* map rows a point has; the last one is "queue unknown" */
	__u32 near;			/* of the others only so many have counts; 0: any may */
	__u32 cpus;			/* possible CPUs */
	__u64 on;			/* 1 << METER_x */
	__u64 cookie;			/* of the namespace: inodes are reused, cookies are not */
	__u64 inode;			/* of the interface (iface.h), likewise; 0: not known */
	__u64 since;			/* CLOCK_BOOTTIME ns, when all began to count (begin.h) */
	__u32 sample;			/* as requested; 0: not requested, see meter_sample() */
	__u32 adapts;			/* meters follow as many packets as they may: enum adapts */
	__u32 budget;			/* …in millionths of a CPU; 0: PACE_RATE packets/s each */
	__u32 rx_ring, max_rx_ring;	/* descriptors of a receive queue; 0: not known */
	__u32 tx_usecs, tx_frames;	/* completions wait this long, or for so many; 0: neither */
	__u32 rx_adaptive, tx_adaptive;	/* …and the driver adapts this itself */
	__u64 cost_ns, cost_when;	/* `nicprobe cost` last: ns per packet, CLOCK_BOOTTIME ns */
	__u32 devices;			/* number that its driver serves; 0: no hardware */
	__u32 polls;			/* it had a NAPI, or may have had: struct config */
	__u32 buffers_at_tc;		/* event meters have them from there: struct config… */
	__u32 frees_in_tasks, takes_all;	/* …as these are of it */
	__u8 mac[8];			/* its address, length in mac[7]: to find a moved device */
	char iface[16], driver[32];
	struct users set[MAX_SETS];
	char hook[NR_POINTS][48];	/* "tcx", "tp_btf/net_dev_queue"; "": absent */
	char note[NR_POINTS][240];	/* why this hook, or why none */
	/* why a requested meter is absent; if it is attached: how it measures here, or "" */
	char absent[NR_METERS][240];
};

/* Follows from the layout: of this struct, and of the rows, keys and maps of all meters. */
__u32 meta_version(void);
/* That of a build which has these NR_METERS meters. */
struct meter;
__u32 meta_version_of(const struct meter *const meters[]);

#endif
