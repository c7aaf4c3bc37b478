/* SPDX-License-Identifier: GPL-2.0 */
/* The setup of an interface: card, driver, settings, and which CPUs serve which queue. */
#ifndef NICPROBE_HW_H
#define NICPROBE_HW_H

#include "lib/hw/hw_above.h"
#include "lib/net/ethtool.h"
#include "lib/net/napis.h"
#include "lib/net/queues.h"
#include "lib/net/xsks.h"
#include "lib/proc/cpus.h"

struct error;

#define HW_WORD		64
#define MAX_HW_NOTES	20

struct hw_card {		/* the device behind it, from sysfs; "" and 0: unknown */
	char subsystem[16];	/* "pci", "usb", "vmbus", "virtio"; "": software */
	char name[HW_WORD];	/* "0000:03:00.0" */
	char ids[HW_WORD];	/* "8086:10c9": vendor and device */
	char speed[32], max_speed[32];	/* of PCIe, per lane: "8.0 GT/s PCIe" */
	unsigned width, max_width;	/* lanes */
	int node;		/* NUMA node; -1: none, or unknown */
	struct cpus local;	/* the CPUs of that node; empty: unknown */
	char pf[HW_WORD], pf_iface[HW_WORD];	/* of a VF: its PF, and that one's interface */
	unsigned vfs, max_vfs;	/* of a physical function: VFs it has, and may have */
};

/*
 * An interrupt and the queue or queues it serves, or queues without an interrupt. Separate rx and
 * tx interrupts give separate lines; an interrupt of no active queue has neither rx nor tx.
 */
struct hw_line {
	int rx, tx;		/* queues; QUEUE_NONE: none in this direction */
	__u32 napi;		/* 0: unknown */
	unsigned irq;		/* 0: none, or unknown */
	char vector[VECTOR_NAME];	/* "" if it was not requested */
	unsigned at, len;	/* position of the queue's number in it; len 0: none */
	int node;		/* of the interrupt; -1: none */
	enum napi_threaded threaded;
	__u32 pid;		/* of the polling thread; 0: none */
	struct cpus may, does;	/* affinity, and effective affinity, of the interrupt */
	struct cpus rps, xps;	/* rx: CPUs that RPS uses; tx: CPUs that send through it */
	struct cpus thread;	/* affinity of the polling thread */
	unsigned rps_flows;	/* rps_flow_cnt */
};

struct hw_note {
	char of[HW_WORD];	/* "RSS" */
	char why[240];		/* the reason it is missing */
};

struct hw {
	struct iface iface;
	const struct driver *driver;	/* driver_generic: not in the tables */
	char version[HW_WORD], firmware[HW_WORD], bus[HW_WORD], module[HW_WORD];
	bool carrier;
	struct hw_card card;
	struct settings link, port, fec, pause, rings, channels, coalesce;
	struct rss rss;
	struct features features;
	struct napis napis;
	bool threaded;		/* the interface polls in threads */
	/* of the interface; -1: not reported */
	long long defer_hard_irqs, gro_flush_ns;
	/* net.core.busy_poll, .busy_read, .rps_sock_flow_entries; -1: not visible from here */
	long long busy_poll_us, busy_read_us, rfs_entries;
	unsigned long rx_missed;	/* packets that found no room since the device exists */
	enum queues_by by;	/* how queues and interrupts were matched… */
	enum queues_by napi_by;	/* …and queues and NAPIs */
	unsigned nr;
	struct hw_line *lines;	/* rx and combined first, then tx, then those without a queue */
	struct cpus online;
	unsigned nodes;		/* NUMA nodes that have CPUs; 0: unknown */
	struct cpus *node_cpus;	/* of each node, [nodes]; some may be empty */
	struct hw_above above;
	struct xsks xsks;	/* AF_XDP sockets bound to its queues */
	unsigned nr_notes;
	struct hw_note notes[MAX_HW_NOTES];
};

/*
 * In the namespace the process is in. 0, or -errno with an error message (no such interface, no
 * memory). Whatever else cannot be read gets a note. Call hw_free() in any case.
 */
int hw_read(const char *iface, struct hw *, struct error *);
void hw_free(struct hw *);

/* Records why a part is missing. */
__attribute__((format(printf, 3, 4)))
void hw_note(struct hw *, const char *of, const char *why, ...);

/* The parts of hw_read(); `sys` is the interface's directory in sysfs, or -1. */
void hw_card_read(struct hw *, int sys);
int hw_lines_read(struct hw *, int sys);	/* 0 or -ENOMEM */
void hw_above_read(struct hw *, int sys);
void hw_channels_read(struct hw *, int sys);
void hw_napis_match(struct hw *, const struct queues *);	/* after the lines are sorted */


/* How the CPUs of consecutive lines differ. */
enum hw_run {
	RUN_SAME,		/* not at all */
	RUN_STEP,		/* each is shifted by a constant step */
	RUN_CYCLE,		/* shifted, and starting over periodically */
};
struct hw_span {		/* lines from `first` on that differ only by their numbers */
	unsigned first, nr;
	unsigned napi_step, irq_step;	/* 0: equal */
	struct hw_follow {
		enum hw_run run;
		unsigned period;	/* RUN_CYCLE: lines until it repeats */
		int step;
	} may, does, rps, xps, thread;
};
/* The longest run of lines from `first` on that one line can describe. */
struct hw_span hw_fold(const struct hw *, unsigned first);

#endif
