/* SPDX-License-Identifier: GPL-2.0 */
/* What findings rest on: figures of a window, load of the CPUs, setup of the interface. */
#ifndef NICPROBE_EVIDENCE_H
#define NICPROBE_EVIDENCE_H

#include "lib/read/snapshot.h"

struct hw;

/* One interface, for as long as it is judged. */
struct evidence {
	const struct snapshot *s;	/* the window */
	struct findings *f;
	/* How it is set up now; NULL: nobody asked yet, or it cannot be had. See setup(). */
	const struct hw *hw;
	struct hw *own;			/* what setup() read, to be freed */
	bool asked;
};

/*
 * How the interface is set up now: rings, channels, offloads, affinities. Read at the first call,
 * as most interfaces are well. NULL: its namespace cannot be entered, or it is gone.
 */
const struct hw *setup(struct evidence *);

/* Is this meter on, and has it figures? */
bool has(const struct evidence *, enum meter_id);

/* Per second of the window; 0 where no time has passed. */
double rate(const struct evidence *, double n);

/*
 * Enough to be worth a word: `least`, and in a window of more than an hour as many per hour. So a
 * window of a second and the totals of a month are judged by one measure.
 */
bool worth(const struct evidence *, uint64_t n, uint64_t least);

/* Words of a row where a struct of it has a histogram: as hist_count() and its like take them. */
static inline const uint64_t *words_at(const void *hist)
{
	return hist;
}

/* "20 packets were late" of what "were late"; "1 packet was late". As text(). */
const char *packets(uint64_t n, const char *what);

/* A metric by its name; it must be there. */
const struct metric *metric_of(const struct meter *, const char *name);

/* Packets that the kernel dropped, by the name of the reason; '*' at its end: all that begin so. */
uint64_t dropped_for(const struct evidence *, const char *reason);

/*
 * Next hops that do not answer now, and the address of one (lib/net/neighbours.h); 0: there are
 * none, or the namespace cannot be entered.
 */
unsigned silent_neighbours(const struct evidence *, char *one, size_t size);

struct full_socket;
/* The UDP socket of the namespace that lost most (lib/net/full_socket.h). */
bool fullest_socket(const struct evidence *, struct full_socket *);

/* Packets that were dropped by these, as the meter drop calls them ("xdp"); in how many buffers. */
uint64_t dropped_by(const struct evidence *, const char *who, uint64_t *buffers_or_null);

/* What driver or card count by this common name, all queues; and the queue with the most. */
uint64_t card_counted(const struct evidence *, const char *stat, int *queue);

/* How much counters of the kernel grew, by their source ("nstat") and name ("UdpNoPorts"). */
uint64_t kernel_counted(const struct evidence *, const char *source, const char *counter);

/* The same of names that have one of these parts in any case, for drivers nobody described. */
uint64_t counted_like(const struct evidence *, const char *source, const char *const *parts);

/* Packets received by queue and CPU (meter rxcpu); -1: of all. */
uint64_t received(const struct evidence *, int queue, int cpu);
/* Packets that the driver was given (meters pktsize, txlat); 0: none of them is attached. */
uint64_t sent_packets(const struct evidence *);
/* Buffers that came to the qdisc, those it dropped, too; `larger`: of some GSO makes several. */
uint64_t sent_buffers(const struct evidence *, bool *larger);
/* The receive queue with the most packets, and the CPU that took most of them; -1: none. */
int busiest_queue(const struct evidence *);
int cpu_of_queue(const struct evidence *, int queue);

/*
 * Other CPUs than this (-1: any) that could take over work: they have half of their time free. With
 * `lost`, when packets are lost for it, it will do if they spend less than half of it receiving:
 * softirqs go before what else they do. Where the load is not known, all that are online.
 */
unsigned free_cpus(const struct evidence *, int cpu, bool lost);
/* The share of a CPU's time in interrupts, softirqs and threads that poll; NAN: not known. */
double time_receiving(const struct evidence *, int cpu);
/* It spends most of its time so, and has next to none left. */
bool cpu_is_full(const struct evidence *, int cpu);
/* Others want it, too: less than a quarter of its time is left. Not known: false. */
bool cpu_is_busy(const struct evidence *, int cpu);

/*
 * The value of /proc/sys/NAME for this interface: of its namespace, or of the host where namespaces
 * have none of their own (*host). 0: it is not told.
 */
unsigned long sysctl_value(const struct evidence *, const char *name, bool *host);

/* A mask for rps_cpus and xps_cpus of the first `cpus` CPUs: "3", "ff,ffffffff". As text(). */
const char *cpu_mask(unsigned cpus);

#endif
