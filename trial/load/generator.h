/* SPDX-License-Identifier: GPL-2.0 */
/* Sends frames from a port, at full or limited rate, with one thread per CPU. */
#ifndef NICPROBE_GENERATOR_H
#define NICPROBE_GENERATOR_H

#include <pthread.h>
#include <stdint.h>

#include "lib/util/clock.h"
#include "trial/load/frame.h"
#include "trial/scenario/port.h"

struct error;

#define THREADS_MAX 64

enum how {
	HOW_BEST,	/* XDP live frames; without ndo_xdp_xmit, packets */
	HOW_LIVE,	/* BPF_PROG_RUN passes frames to ndo_xdp_xmit (Linux 5.18) */
	HOW_PACKET,	/* sendmmsg() on a packet socket: skbs, through the qdisc */
};

struct load {			/* what to send */
	struct frame_spec frame;
	unsigned flows, threads;
	double rate;		/* total frames/s; 0: unlimited */
};

struct worker {
	pthread_t thread;
	const struct generator *g;
	unsigned nr, cpu;
	bool started;
	uint64_t sent;		/* HOW_PACKET: accepted by the kernel */
	uint64_t refused;	/* HOW_PACKET: rejected with ENOBUFS */
	double waited;		/* seconds waiting for its CPU in the last run */
	int err;		/* why it stopped early; 0: it did not */
};

struct generator {
	enum how how;
	struct load load;
	unsigned ifindex;
	struct live_bpf *live;
	double until;		/* end of sending, CLOCK_MONOTONIC seconds */
	struct worker worker[THREADS_MAX];
};

/* Nonzero (the number of a signal): everything stops soon. */
extern volatile int trial_stop;

/*
 * The threads get the first CPUs of the process's affinity mask. 0, or -errno with an error
 * message; -EOPNOTSUPP: this method of sending does not work on this port.
 */
int generator_open(struct generator *, const struct port *, const struct load *, enum how,
		   struct error *);
/* Starts threads that send for `seconds`. 0; or -errno with an error message, without threads. */
int generator_start(struct generator *, const struct port *, double seconds, struct error *);
/*
 * Starts a thread that takes no signals: they are for the main thread. It inherits the network
 * namespace of its creator. 0 or -errno.
 */
int thread_start(pthread_t *, void *(*work)(void *), void *arg);
/* Waits until the threads have ended. 0, or -errno with an error message. */
int generator_wait(struct generator *, struct error *);
void generator_close(struct generator *);

/* Frames sent since opening; also adds them to by_cpu[TRAFFIC_CPUS]. */
uint64_t generator_sent(const struct generator *, uint64_t *by_cpu);
uint64_t generator_refused(const struct generator *);	/* ENOBUFS; not among those sent */

/* Sleeps despite signals until `when`. 0; -EINTR: *stop was set (NULL: never). */
int sleep_until(double when, const volatile int *stop);

/* The methods of sending; live_send() and packet_send() run until g->until. */
int live_open(struct generator *, struct error *);
int live_send(struct worker *);
/* Sends a few frames from the calling thread. 0 or -errno. */
int live_try(struct generator *);
int packet_send(struct worker *);
uint64_t live_sent(const struct generator *, uint64_t *by_cpu);

#endif
