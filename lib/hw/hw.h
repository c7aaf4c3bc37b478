/* SPDX-License-Identifier: GPL-2.0 */
/* What an interface is made of: card, driver, settings; which CPUs serve which queue. */
#ifndef NICPROBE_HW_H
#define NICPROBE_HW_H

#include "lib/hw/hw_above.h"
#include "lib/net/ethtool.h"
#include "lib/net/napis.h"
#include "lib/net/queues.h"
#include "lib/net/xsks.h"
#include "lib/proc/cpus.h"

#define HW_WORD		64
#define MAX_HW_NOTES	20

struct hw_card {		/* the device behind it, by sysfs; "" and 0: not told */
	char subsystem[16];	/* "pci", "usb", "vmbus", "virtio"; "": it is software */
	char name[HW_WORD];	/* "0000:03:00.0" */
	char ids[HW_WORD];	/* "8086:10c9": vendor and device */
	char speed[32], max_speed[32];	/* of PCIe, a lane: "8.0 GT/s PCIe" */
	unsigned width, max_width;	/* lanes */
	int node;		/* NUMA; -1: none, or not told */
	struct cpus local;	/* the CPUs that are near to it; empty: not told */
	char pf[HW_WORD], pf_iface[HW_WORD];	/* a virtual function: of which, its interface */
	unsigned vfs, max_vfs;	/* a physical function: of these it has */
};

/*
 * What serves a queue or two: one interrupt, or queues without one. A queue that has several
 * interrupts (rx and tx apart) has several lines; one that is not in use has none.
 */
struct hw_line {
	int rx, tx;		/* queues; QUEUE_NONE: none of this direction */
	__u32 napi;		/* 0: not known */
	unsigned irq;		/* 0: none, or not known */
	char vector[VECTOR_NAME];	/* "" unless it was requested */
	unsigned at, len;	/* where in it the queue's number stands; len 0: nowhere */
	int node;		/* of the interrupt; -1: none */
	enum napi_threaded threaded;
	__u32 pid;		/* of the thread that polls; 0: none does */
	struct cpus may, does;	/* the interrupt: is allowed on, is sent to */
	struct cpus rps, xps;	/* rx: who takes its packets; tx: who sends by it */
	struct cpus thread;	/* where the thread that polls may run */
	unsigned rps_flows;	/* rps_flow_cnt */
};

struct hw_note {
	char of[HW_WORD];	/* "RSS" */
	char why[240];		/* it is not there */
};

struct hw {
	struct iface iface;
	const struct driver *driver;	/* driver_generic: nothing is known of it */
	char version[HW_WORD], firmware[HW_WORD], bus[HW_WORD], module[HW_WORD];
	bool carrier;
	struct hw_card card;
	struct settings link, port, fec, pause, rings, channels, coalesce;
	struct rss rss;
	struct features features;
	struct napis napis;
	bool threaded;		/* all polls of the interface run in threads */
	/* of the interface; -1: not told */
	long long defer_hard_irqs, gro_flush_ns;
	/* net.core.busy_poll, .busy_read, .rps_sock_flow_entries; -1: not to be seen from here */
	long long busy_poll_us, busy_read_us, rfs_entries;
	unsigned long rx_missed;	/* packets that found no room, since the device came */
	enum queues_by by;	/* how queue and interrupt were brought together… */
	enum queues_by napi_by;	/* …and queue and NAPI */
	unsigned nr;
	struct hw_line *lines;	/* rx and both first, then tx, then those of no queue */
	struct cpus online;
	unsigned nodes;		/* NUMA nodes that have CPUs; 0: not told */
	struct cpus *node_cpus;	/* of each, [nodes], by number; some may be empty */
	struct hw_above above;
	struct xsks xsks;	/* AF_XDP sockets that are bound to its queues */
	unsigned nr_notes;
	struct hw_note notes[MAX_HW_NOTES];
};

/*
 * In the namespace the process is in. 0 or -errno with a complaint: no such interface, no memory.
 * What else cannot be read costs its detail, and has a note. hw_free() whatever comes back.
 */
int hw_read(const char *iface, struct hw *);
void hw_free(struct hw *);

/* Says why a part is not there. */
__attribute__((format(printf, 3, 4)))
void hw_note(struct hw *, const char *of, const char *why, ...);

/* The parts of hw_read(); `sys` is the directory of the interface in sysfs, or -1. */
void hw_card_read(struct hw *, int sys);
int hw_lines_read(struct hw *, int sys);	/* 0 or -ENOMEM */
void hw_above_read(struct hw *, int sys);
void hw_channels_read(struct hw *, int sys);
void hw_napis_match(struct hw *, const struct queues *);	/* once the lines are in order */


/* How the CPUs of a run of lines follow one another. */
enum hw_run {
	RUN_SAME,		/* all alike */
	RUN_STEP,		/* each is the one before, moved on */
	RUN_CYCLE,		/* so, and from the first on again */
};
struct hw_span {		/* lines from `first` on that differ only in their number */
	unsigned first, nr;
	unsigned napi_step, irq_step;	/* 0: alike */
	struct hw_follow {
		enum hw_run run;
		unsigned period;	/* RUN_CYCLE: lines until it begins again */
		int step;
	} may, does, rps, xps, thread;
};
/* The longest run of lines from `first` on that can be told in one. */
struct hw_span hw_fold(const struct hw *, unsigned first);

#endif
