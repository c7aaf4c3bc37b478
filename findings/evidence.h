/* SPDX-License-Identifier: GPL-2.0 */
/* What findings rest on: figures of a window, CPU load, setup of the interface. */
#ifndef NICPROBE_EVIDENCE_H
#define NICPROBE_EVIDENCE_H

#include "lib/read/snapshot.h"

struct hw;

/* One interface, while its window is evaluated. */
struct evidence {
	const struct snapshot *s;	/* the window */
	struct findings *f;
	/* Its current setup; NULL: not read yet, or not readable. See setup(). */
	const struct hw *hw;
	struct hw *own;			/* read by setup(), to be freed */
	bool asked;
};

/*
 * Current setup of the interface: rings, channels, offloads, affinities. Read on the first call, as
 * most windows need none of it. NULL: its namespace cannot be entered, or it is gone.
 */
const struct hw *setup(struct evidence *);

/* Whether this meter is on and has data. */
bool has(const struct evidence *, enum meter_id);

/* A row of a meter; for_each_row() visits them all, or none if the meter is off. */
struct meter_row {
	enum meter_id id;
	unsigned next;			/* number of the row after it */
	const void *key;		/* of a keyed meter */
	const uint64_t *words;		/* of a meter that is not by CPU */
};
bool row_next(const struct evidence *, struct meter_row *);
struct place row_place(const struct evidence *, const struct meter_row *);
#define for_each_row(r, e, meter) for (struct meter_row r = { .id = meter }; row_next(e, &r);)

/* Per second of the window; 0 if no time has passed. */
double rate(const struct evidence *, double n);
/* A finding about `n` things: its harm is their rate, its fact their number. */
void finding_counted(const struct evidence *, struct finding *, uint64_t n, const char *name,
		     const char *unit);
void finding_packets(const struct evidence *, struct finding *, uint64_t n);

/*
 * Whether `n` is enough to report: at least `least`, and in windows longer than an hour at least
 * `least` per hour. One threshold thus fits a window of a second and totals of a month.
 */
bool worth(const struct evidence *, uint64_t n, uint64_t least);

/* The words of a histogram that is a member of a row: as hist_count() and others take them. */
static inline const uint64_t *words_at(const void *hist)
{
	return hist;
}

/* "20 packets were late" for "were late"; "1 packet was late". Valid as text(). */
const char *packets(uint64_t n, const char *what);

/* A metric by its name, which must exist. */
const struct metric *metric_of(const struct meter *, const char *name);

/* Packets that the kernel dropped, by reason; "QDISC_*" matches as a prefix. */
uint64_t dropped_for(const struct evidence *, const char *reason);

/*
 * Number of next hops that do not answer now, and the address of one (lib/net/neighbours.h). 0:
 * none, or the namespace cannot be entered.
 */
unsigned silent_neighbours(const struct evidence *, char *one, size_t size);

struct full_socket;
/* The UDP socket of the namespace that lost the most packets (lib/net/full_socket.h). */
bool fullest_socket(const struct evidence *, struct full_socket *);

/* A template in which {if} stands for the interface. Valid as text(). */
const char *with_iface(const struct evidence *, const char *template);

/* Packets dropped by `who`, as the meter drop names it ("xdp"), and in how many buffers. */
uint64_t dropped_by(const struct evidence *, const char *who, uint64_t *buffers_or_null);

/* Sum of a driver or card counter by its common name; *queue: the queue with the most, or -1. */
uint64_t card_counted(const struct evidence *, const char *stat, int *queue);

/* Growth of kernel counters, by source ("nstat") and name ("UdpNoPorts"). */
uint64_t kernel_counted(const struct evidence *, const char *source, const char *counter);

/* The same for names that contain one of `parts`, in any case: for drivers without a table. */
uint64_t counted_like(const struct evidence *, const char *source, const char *const *parts);

/* Packets received by queue and CPU (meter rxcpu); -1: all. */
uint64_t received(const struct evidence *, int queue, int cpu);
/* Packets given to the driver (meters pktsize, txlat); 0: neither meter is on. */
uint64_t sent_packets(const struct evidence *);
/* Buffers that reached the qdisc, including drops; `larger`: GSO splits some of them. */
uint64_t sent_buffers(const struct evidence *, bool *larger);
/* The receive queue with the most packets, and the CPU that took most of its packets; -1: none. */
int busiest_queue(const struct evidence *);
int cpu_of_queue(const struct evidence *, int queue);

/*
 * Number of CPUs other than `cpu` (-1: any) that could take over work, being idle half of the time.
 * With `lost` (packets are being lost) those qualify that spend less than half of their time
 * receiving, since softirqs preempt other work. All online CPUs if the load is unknown.
 */
unsigned free_cpus(const struct evidence *, int cpu, bool lost);
/* Share of a CPU's time in interrupts, softirqs and polling threads; NAN: unknown. */
double time_receiving(const struct evidence *, int cpu);
/* It spends most of its time receiving, and has next to none left. */
bool cpu_is_full(const struct evidence *, int cpu);
/* Less than a quarter of its time is idle, whatever uses the rest. Unknown: false. */
bool cpu_is_busy(const struct evidence *, int cpu);

/*
 * Enters the namespace of the interface; *there: that succeeded. Returns a descriptor for
 * evidence_leave(); -1: already inside.
 */
int evidence_enter(const struct evidence *, bool *there);
void evidence_leave(int home);

/*
 * The value of /proc/sys/NAME for this interface: of its namespace, or of the host if namespaces
 * have none of their own (then *host). 0: not readable.
 */
unsigned long sysctl_value(const struct evidence *, const char *name, bool *host);
/* The first `nr` of several. False: not readable, or there are fewer. */
bool sysctl_values(const struct evidence *, const char *name, unsigned long *values, unsigned nr,
		   bool *host);

#endif
