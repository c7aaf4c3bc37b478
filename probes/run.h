/* SPDX-License-Identifier: GPL-2.0 */
/* A question that is being asked: its programs in the kernel, and what they have gathered. */
#ifndef NICPROBE_PROBES_RUN_H
#define NICPROBE_PROBES_RUN_H

#include "probes/question.h"

struct tracing;

struct tracing_scope {
	__u64 netns;		/* cookie of the network namespace; 0: all */
	__u32 ifindex;		/* 0: all interfaces */
	__u32 keys;		/* most keys of an aggregation; 0: as usual */
};

/*
 * Chooses a source for each probe, loads and attaches. Must be called in the namespace that is
 * traced: netfilter programs belong to it. NULL and an error: nothing is attached.
 */
struct tracing *tracing_begin(const struct question *, const struct tracing_scope *,
			      struct error *);
void tracing_detach(struct tracing *);		/* nothing is gathered any more; it can be read */
void tracing_end(struct tracing *);

const struct serving *tracing_source(const struct tracing *, enum stable_probe);
/* Those of a pattern that cannot be had here. */
probe_set tracing_lacks(const struct tracing *);

/*
 * Adds the functions and tracepoints that are traced, and how: "fbt::__alloc_skb:entry by fentry".
 * `more`: something stands before.
 */
void tracing_raw(const struct tracing *, char *list, size_t size, bool more);

/* One key of an aggregation, of all CPUs. */
struct gathered {
	struct query_key key;
	__u64 n;
	__s64 sum, min, max;
	__u64 *slot;		/* query.slots of them */
};
/*
 * All keys, those with the greatest figure first. Their number, or -errno; gathered_free() them.
 */
int tracing_read(const struct tracing *, struct gathered **);
void gathered_free(struct gathered *, int nr);
/* The figure by which they are sorted and which they show: count, sum, min, max or mean. */
double gathered_figure(const struct question *, const struct gathered *);

/* Waits about this long, and hands on what only user space is told. */
void tracing_wait(struct tracing *, int ms);
/* Calls `tell` for each event that came within `ms`; -EINTR: a signal. Only for AGG_PRINT. */
int tracing_poll(struct tracing *, int ms, void (*tell)(const struct probe_event *, void *),
		 void *arg);

/* By enum loss, and events that programs missed because they were running already. */
#define LOST_MISSED	NR_LOSSES
void tracing_losses(const struct tracing *, __u64 losses[NR_LOSSES + 1]);

#endif
