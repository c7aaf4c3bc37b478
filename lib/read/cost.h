/* SPDX-License-Identifier: GPL-2.0 */
/* What our programs cost, by kernel event: the kernel's run-time statistics of a while. */
#ifndef NICPROBE_READ_COST_H
#define NICPROBE_READ_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/core/event.h"
#include "lib/kernel/calling.h"

/* All programs of ours that run for one event. */
struct cost_event {
	char event[48];		/* "net_dev_queue"; "xdp", "tc" */
	bool traced;		/* a tracepoint: the kernel takes time to call its programs */
	unsigned programs;
	struct users users;	/* who wants them */
	uint64_t runs;		/* of all its programs: packets of every interface are in it */
	double inside;		/* ns in the programs, without what their timing took */
	double calling;		/* ns to call them, by `struct calling`; 0 unless `traced` */
};

struct cost {
	double seconds;		/* over which it was measured */
	struct calling calling;
	struct cost_event *events;	/* the dearest first; free() it */
	unsigned nr;
	uint64_t runs;		/* sums of the events */
	double inside, calls;
};

struct cost_watch;
struct error;

/*
 * Finds the programs of these directories of pins, and turns the statistics on. They slow down
 * every BPF program of the machine by calling.timed for each run until cost_end(). NULL: an error.
 */
struct cost_watch *cost_begin(const char (*dirs)[256], unsigned nr, struct error *);

/* Ends what cost_begin() began. 0 or -errno and an error. `cost` NULL: nobody wants to know. */
int cost_end(struct cost_watch *, struct cost *, struct error *);

/* Writes ns per packet, and the time, to the pin "meta". 0 or -errno and an error. */
int cost_keep(const char *dir, double ns, struct error *);

#endif
