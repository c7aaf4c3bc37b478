/* SPDX-License-Identifier: GPL-2.0 */
/* Named values of a window, for the rows of views: each from the figures of its meter. */
#ifndef NICPROBE_TOP_VALUES_H
#define NICPROBE_TOP_VALUES_H

#include "render/shown.h"
#include "top/past.h"

/* One value: NAN where the window has none. */
struct way {
	double packets, bytes;		/* per second */
	double per_buffer;		/* wire packets per buffer */
	int busiest;			/* the queue with the most packets; -1: none */
	double share;			/* its share, 0 to 1 */
};

/* Findings that stand by themselves, and the worst of them. */
struct found {
	unsigned nr;
	enum severity worst;
};
struct found values_found(const struct snapshot *window);

struct values {
	struct way rx, tx;
	double ce;			/* share of CE among the received ECN-capable packets */
	double drops;			/* packets/s */
	char cause[48];			/* the most frequent reason; "": none */
	double p50, p99;		/* seconds: TX completion */
	double polls;			/* per second */
	double cost;			/* per cent of a CPU */
	struct found found;
};

void values_of(const struct snapshot *window, struct values *);

/* A host, whose window has connections instead of packets. Rates are per second. */
struct host_values {
	double opened, failed;		/* connections that it asked for, by how that ended */
	double connect_p99;		/* seconds, of those that were opened */
	double accepted;		/* connections that came */
	double ended;			/* connections of both kinds… */
	double received, sent;		/* …and the bytes of payload that they had carried */
	double again;			/* TCP segments sent once more */
	double rtt_p50, rtt_p99;	/* seconds, of connections that ended */
	double dropped;			/* packets, for want of room in a buffer or queue */
	struct found found;
};
void values_host(const struct snapshot *window, struct host_values *);

#define QUEUE_ALL	(-1)
#define QUEUE_UNKNOWN	(-2)

/* One queue. */
struct queue_values {
	double received, sent;		/* packets/s */
	double p99;			/* TX completion */
	double polls;
};
void values_queue(const struct snapshot *window, int queue, struct queue_values *);

/* One CPU: packets/s that it took from the driver, and the part of its time for the network. */
struct processor_values {
	double packets, network, idle;
};
void values_cpu(const struct snapshot *window, unsigned cpu, struct processor_values *);

/* Is this metric a time, and shown by percentiles? */
bool is_latency(const struct metric *);
/*
 * The words of a metric, summed over the rows of the meter: those of a queue (QUEUE_…), and of a
 * point (NR_POINTS: all). False: there is no such row.
 */
bool words_of_queue(const struct snapshot *, const struct meter *, const struct metric *, int queue,
		    unsigned point, uint64_t *words);

/* All lines of the past, of a step from one moment to the next. */
void values_past(struct past *, const struct snapshot *step);

#endif
