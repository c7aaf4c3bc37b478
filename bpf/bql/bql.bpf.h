/* SPDX-License-Identifier: GPL-2.0 */
/* Byte queue limits, and how long a TX queue was stopped while packets waited. */
#ifndef NICPROBE_BQL_BPF_H
#define NICPROBE_BQL_BPF_H

#include "bpf/common/scratch.bpf.h"
#include "bpf/common/skb.bpf.h"
#include "bpf/common/txq.bpf.h"
#include "bpf/bql/bql.h"

#define DRV_XOFF	(1ul << 0)	/* __QUEUE_STATE_DRV_XOFF and _STACK_XOFF, since 3.3 */
#define STACK_XOFF	(1ul << 1)

METER_MAP(bql);

/*
 * The kernel does not trace stops. We notice them where we read the queue's state: when the
 * driver's xmit returns, and when a packet enters the qdisc.
 */
struct stop {
	__u64 since;		/* when it was noticed; 0: the queue is not stopped */
	__u64 wanted;		/* since when packets wait; 0: none is known to */
	__u32 by;		/* enum bql_by */
	__u32 over;		/* it was seen to have ended while no packet was known to wait */
	__u64 stalls;		/* stall_cnt as last seen… */
	__u64 stalls_seen;	/* …if it was */
};
MAP(ARRAY, bql_stop, __u32, struct stop, MAX_QUEUES);

/* The packet in the driver's xmit on this CPU. */
struct bql_xmit {
	__u64 skb;
	__u32 queue;
};
SCRATCH_MAP(bql_xmit, struct bql_xmit);

static __always_inline unsigned long state_of(const struct netdev_queue *txq)
{
	return PLAIN(txq, state) & (DRV_XOFF | STACK_XOFF);
}

/* All callers run with softirqs off, and none of them sends a packet: a row has one writer. */
static __always_inline struct bql *bql_row(__u32 queue)
{
	return own_row(bql, row_of(0, queue));
}

static __noinline int stop_begins(struct stop *stop, __u32 queue, unsigned long state, bool wanted)
{
	__u32 by = state & DRV_XOFF ? BQL_BY_DRIVER : BQL_BY_BQL;
	__u64 now = bpf_ktime_get_ns();
	struct bql *row = bql_row(queue);

	if (!stop || !row || stop->since)
		return 0;
	stop->by = by;
	stop->over = 0;
	stop->wanted = wanted ? now : 0;
	/* two CPUs may notice at once */
	if (__sync_val_compare_and_swap(&stop->since, 0, now))
		return 0;
	row->came++;
	if (by == BQL_BY_DRIVER)
		row->stops[BQL_BY_DRIVER]++;
	else
		row->stops[BQL_BY_BQL]++;
	return 0;
}

/* The queue sends again. */
static __noinline int stop_ends(struct stop *stop, __u32 queue, const struct netdev_queue *txq)
{
	struct bql *row = bql_row(queue);
	__u64 since, from, ns;

	if (!stop || !row)
		return 0;
	since = stop->since;
	from = stop->wanted ?: stop->over ? 0 : since;	/* since: it waited before the stop */
	if (!since || __sync_val_compare_and_swap(&stop->since, since, 0) != since)
		return 0;
	row->went++;
	if (!from) {
		row->idle++;
		return 0;
	}
	ns = bpf_ktime_get_ns() - from;
	if (stop->by == BQL_BY_DRIVER) {
		HIST_ADD(row->by_driver, loglin_slot(ns), ns);
		return 0;
	}
	HIST_ADD(row->by_bql, loglin_slot(ns), ns);
	if (bpf_core_field_exists(txq->dql) &&
	    PLAIN(txq, dql.num_queued) == PLAIN(txq, dql.num_completed))
		row->starved++;
	return 0;
}

/* A packet entered the qdisc: if the queue is stopped, packets wait from now on. */
static __always_inline int bql_queued(const struct sk_buff *skb, const struct net_device *dev)
{
	__u32 queue = skb->queue_mapping;
	unsigned long state;
	struct stop *stop;
	__u64 since;

	if (is_set(takes_all))		/* it stops no queue */
		return 0;
	stop = row_at(&bql_stop, queue);
	if (!stop)
		return 0;
	/* in this order: else another CPU may end the stop in between, and it would begin again */
	since = *(volatile __u64 *)&stop->since;
	barrier();
	state = state_of(txq_of(dev, queue));
	if (!since)
		return state ? stop_begins(stop, queue, state, true) : 0;
	if (!stop->wanted && !stop->over) {
		if (state)
			__sync_val_compare_and_swap(&stop->wanted, 0, bpf_ktime_get_ns());
		else
			stop->over = 1;
	}
	return 0;
}

static __always_inline int bql_started(const struct sk_buff *skb, const struct net_device *dev)
{
	struct bql_xmit *xmit;
	__u32 queue;
	struct stop *stop;

	if (is_set(takes_all))
		return 0;
	xmit = scratch_here(bql_xmit);
	queue = skb->queue_mapping;
	stop = row_at(&bql_stop, queue);
	if (!xmit || !stop)
		return 0;
	xmit->skb = (__u64)skb;
	xmit->queue = queue;
	if (stop->since)
		stop_ends(stop, queue, txq_of(dev, queue));
	return 0;
}

static __always_inline __u32 slot_of(__u64 value, __u32 slots)
{
	__u32 slot = loglin_slot(value);

	return slot < slots ? slot : slots - 1;
}

static __noinline int limit_look(const struct netdev_queue *txq, struct stop *stop, __u32 queue,
				 __u32 came)
{
	__u32 limit, bytes;
	struct bql *row;
	__u64 stalls;

	if (!bpf_core_field_exists(txq->dql) || !stop)
		return 0;
	row = bql_row(queue);
	if (!row)
		return 0;
	bytes = came - PLAIN(txq, dql.num_completed);
	limit = PLAIN(txq, dql.limit);
	HIST_ADD(row->in_flight, slot_of(bytes, BQL_SIZE_SLOTS), bytes);
	if (limit) {		/* 0 until the first completion */
		__u64 fill = (__u64)bytes * BQL_FULL / limit;

		HIST_ADD(row->fill, slot_of(fill, BQL_FILL_SLOTS), fill);
	}
	if (!bpf_core_field_exists(txq->dql.stall_cnt))
		return 0;
	stalls = PLAIN(txq, dql.stall_cnt);
	if (stop->stalls_seen && stalls > stop->stalls)
		row->stalls += stalls - stop->stalls;
	stop->stalls = stalls;
	stop->stalls_seen = 1;
	return 0;
}

/* skb may be freed by now: only its address may be used. */
static __always_inline int bql_returned(const void *skb, int rc, const struct net_device *dev)
{
	const struct netdev_queue *txq;
	struct bql_xmit *xmit = scratch_here(bql_xmit);
	unsigned long state;
	struct stop *stop;
	__u32 came;

	if (!xmit || xmit->skb != (__u64)skb)
		return 0;
	xmit->skb = 0;
	stop = row_at(&bql_stop, xmit->queue);
	if (!stop)
		return 0;
	txq = txq_of(dev, xmit->queue);
	state = state_of(txq);
	if (state)		/* a requeued packet waits */
		stop_begins(stop, xmit->queue, state, rc >= XMIT_TAKEN);
	if (!bpf_core_field_exists(txq->dql))
		return 0;
	came = PLAIN(txq, dql.num_queued);
	/* 0: no BQL, or exactly 2^32 bytes were queued */
	return came ? limit_look(txq, stop, xmit->queue, came) : 0;
}

#endif
