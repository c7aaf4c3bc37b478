/* SPDX-License-Identifier: GPL-2.0 */
/* Sends frames from a port, as many as it can or as were asked for, by threads with a CPU each. */
#ifndef NICPROBE_GENERATOR_H
#define NICPROBE_GENERATOR_H

#include <pthread.h>
#include <stdint.h>

#include "trial/load/frame.h"
#include "trial/scenario/port.h"

#define THREADS_MAX 64

enum how {
	HOW_BEST,	/* XDP live frames; where the driver has no ndo_xdp_xmit, packets */
	HOW_LIVE,	/* BPF_PROG_RUN hands frames to ndo_xdp_xmit (Linux 5.18) */
	HOW_PACKET,	/* sendmmsg() on a packet socket: skbs, through the qdisc */
};

struct load {			/* what to send */
	struct frame_spec frame;
	unsigned flows, threads;
	double rate;		/* frames/s in all; 0: as many as can be */
};

struct worker {
	pthread_t thread;
	const struct generator *g;
	unsigned nr, cpu;
	bool started;
	uint64_t sent;		/* by packets: the kernel took them */
	uint64_t refused;	/* by packets: the kernel had no room for them (ENOBUFS) */
	double waited;		/* seconds, for its CPU, of the last time that it sent */
	int err;		/* why it ended early; 0: it did not */
};

struct generator {
	enum how how;
	struct load load;
	unsigned ifindex;
	struct live_bpf *live;
	double until;		/* CLOCK_MONOTONIC, seconds: when the threads end */
	struct worker worker[THREADS_MAX];
};

/* Set to a signal's number: everything ends soon. */
extern volatile int trial_stop;

/*
 * The threads it has get the first CPUs the process may use. 0, or -errno and a complaint;
 * -EOPNOTSUPP: that way of sending does not work from this port.
 */
int generator_open(struct generator *, const struct port *, const struct load *, enum how);
/* Starts the threads; they send for so many seconds. 0, or -errno, a complaint and none of them. */
int generator_start(struct generator *, const struct port *, double seconds);
/* Until they have ended. 0, or -errno and a complaint. */
int generator_wait(struct generator *);
void generator_close(struct generator *);

/* Since it was opened; by CPU, too, where it is not NULL (of TRAFFIC_CPUS). */
uint64_t generator_sent(const struct generator *, uint64_t *by_cpu);
uint64_t generator_refused(const struct generator *);	/* -ENOBUFS; not in what was sent */

double seconds_now(void);	/* CLOCK_MONOTONIC */
/* Sleeps until then, or until trial_stop. */
void sleep_until(double when);

/* Of the ways: what a thread does until g->until. */
int live_open(struct generator *);
void live_close(struct generator *);
int live_send(struct worker *);
/* A few frames, by the calling thread. 0 or -errno. */
int live_try(struct generator *);
int packet_send(struct worker *);
uint64_t live_sent(const struct generator *, uint64_t *by_cpu);

#endif
