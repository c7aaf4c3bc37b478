/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe's own meters on a port while it is tried, and the losses that others count there. */
#ifndef NICPROBE_WATCH_H
#define NICPROBE_WATCH_H

#include <stdint.h>

#include "lib/read/snapshot.h"
#include "trial/load/traffic.h"
#include "trial/scenario/port.h"

/*
 * Gives the process a BPF file system of its own: what is pinned there ends with it, however it
 * ends. Before any thread is started. 0, or -errno and a complaint.
 */
int watch_begin(void);

/* For a child before it runs somebody's command: to the mounts that all see. 0 or -errno. */
int watch_outside(void);

/* Is nicprobe attached to it, in the BPF file system that all see? Before watch_begin(). */
bool watch_attached(const struct port *);

#define DROPS_MAX 6

struct seen {			/* while the meters were attached */
	double polls, interrupts;	/* NAN: not known here; see `why` */
	double polled;			/* packets that the polls took */
	double poll_seconds;		/* in polls */
	double p50, p99;		/* seconds to the completion of a sent packet; NAN */
	char no_polls[240], no_interrupts[240], no_completions[240];	/* why not */
	uint64_t queue[TRAFFIC_QUEUES], cpu[TRAFFIC_CPUS];	/* packets; see enum watch_by */
	unsigned drops;
	struct {
		char reason[48], where[64];
		uint64_t packets;
	} drop[DROPS_MAX];	/* of skbs, most first */
};

/* Which packets are counted by queue and CPU, too. */
enum watch_by { WATCH_NONE, WATCH_RX, WATCH_TX };

/* 0, or -errno and a complaint. */
int watch_attach(const struct port *, enum watch_by, struct meta *);
int watch_detach(const struct port *, const struct meta *, struct seen *);

/* The counters of losses of a port as they are now; table_free() it. 0 or -errno, a complaint. */
int losses_read(const struct port *, struct table *);
/* How much the counters of one `source` ("ethtool -S") grew: calls fn for each that did. */
void losses_each(const struct table *before, const struct table *now,
		 void (*fn)(const char *source, const char *counter, uint64_t grown, void *arg),
		 void *arg);
void losses_free(struct table *);

#endif
