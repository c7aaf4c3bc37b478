/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe's meters on a port during a trial, and the loss counters of kernel and driver. */
#ifndef NICPROBE_WATCH_H
#define NICPROBE_WATCH_H

#include <stdint.h>

#include "lib/read/snapshot.h"
#include "trial/load/traffic.h"
#include "trial/scenario/port.h"

struct error;

/*
 * Gives the process a private BPF file system: pins vanish with the process, however it ends. Call
 * before starting threads. 0, or -errno with an error message.
 */
int watch_begin(struct error *);

/* Returns a child to the original mount namespace, before it runs a user's command. 0 or -errno. */
int watch_outside(void);

/* Is nicprobe attached to the port? Call before watch_begin() hides the shared BPF file system. */
bool watch_attached(const struct port *);

#define DROPS_MAX 6

struct seen {			/* while the meters were attached */
	double polls, interrupts;	/* NAN: unknown; see no_polls and no_interrupts */
	double polled;			/* packets processed by polls */
	double poll_seconds;		/* total time of polls */
	double p50, p99;		/* seconds to the completion of a sent packet; NAN */
	char no_polls[240], no_interrupts[240], no_completions[240];	/* why not */
	uint64_t queue[TRAFFIC_QUEUES], cpu[TRAFFIC_CPUS];	/* packets; see enum watch_by */
	unsigned drops;
	struct {
		char reason[48], where[64];
		uint64_t packets;
	} drop[DROPS_MAX];	/* of skbs, largest first */
};

/* Which packets are also counted by queue and CPU. */
enum watch_by { WATCH_NONE, WATCH_RX, WATCH_TX };

/* 0, or -errno with an error message. */
int watch_attach(const struct port *, enum watch_by, struct meta *, struct error *);
int watch_detach(const struct port *, const struct meta *, struct seen *);

/* Reads the loss counters of a port; losses_free() them. 0, or -errno with an error message. */
int losses_read(const struct port *, struct table *, struct error *);
struct grown {			/* a counter that grew */
	char source[16], counter[48];	/* "ethtool -S", "rx_missed_errors" */
	uint64_t packets;
};
/* Lists at most `most` counters that grew; returns their number. */
unsigned losses_grown(const struct table *before, const struct table *now, struct grown *,
		      unsigned most);
void losses_free(struct table *);

#endif
