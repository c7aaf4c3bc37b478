/* SPDX-License-Identifier: GPL-2.0 */
/* Byte queue limits, and for how long a TX queue stood stopped with something to send. */
#include "bpf/common/scratch.bpf.h"
#include "bpf/common/skb.bpf.h"
#include "bpf/common/txq.bpf.h"
#include "bpf/bql/bql.h"
#include <bpf/bpf_tracing.h>

#define DRV_XOFF	(1ul << 0)	/* __QUEUE_STATE_DRV_XOFF and _STACK_XOFF, since 3.3 */
#define STACK_XOFF	(1ul << 1)

METER_MAP(bql);

/*
 * A stop is noticed where the queue's state is looked at: when the driver returns from taking
 * a packet, and when a packet comes to the qdisc. Nothing in the kernel traces it.
 */
struct stop {
	__u64 since;		/* when it was noticed; 0: the queue is not stopped */
	__u64 wanted;		/* since when there is something to send; 0: not known of any */
	__u32 by;		/* enum bql_by */
	__u32 over;		/* it was seen to have ended, with nothing to send known of */
	__u64 stalls;		/* stall_cnt as last seen… */
	__u64 stalls_seen;	/* …if it was */
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_QUEUES);
	__type(key, __u32);
	__type(value, struct stop);
} bql_stop SEC(".maps");

/* What this CPU is handing to the driver. */
struct bql_handing {
	__u64 skb;
	__u32 queue;
};
SCRATCH_MAP(bql_handing, struct bql_handing);

static __always_inline unsigned long state_of(const struct netdev_queue *txq)
{
	return BPF_CORE_READ(txq, state) & (DRV_XOFF | STACK_XOFF);
}

/* All of this runs with softirqs off, and in none of it a packet is sent: rows have one writer. */
static __always_inline struct bql *bql_row(__u32 queue)
{
	return row_at(&bql, row_of(0, queue));
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
	from = stop->wanted ?: stop->over ? 0 : since;	/* else it waits since before the stop */
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
	    BPF_CORE_READ(txq, dql.num_queued) == BPF_CORE_READ(txq, dql.num_completed))
		row->starved++;
	return 0;
}

/* A packet came to the qdisc: the queue is stopped and something wants to be sent, or it is not. */
static __always_inline int queued(const struct sk_buff *skb)
{
	const struct net_device *dev = skb->dev;
	unsigned long state;
	struct stop *stop;
	__u32 queue;

	if (!dev_is_ours(dev))
		return 0;
	queue = skb->queue_mapping;
	stop = row_at(&bql_stop, queue);
	if (!stop)
		return 0;
	state = state_of(txq_of(dev, queue));
	if (!stop->since)
		return state ? stop_begins(stop, queue, state, true) : 0;
	if (!stop->wanted && !stop->over) {
		if (state)
			__sync_val_compare_and_swap(&stop->wanted, 0, bpf_ktime_get_ns());
		else
			stop->over = 1;
	}
	return 0;
}

static __always_inline int handed_over(const struct sk_buff *skb,
				       const struct net_device *dev)
{
	struct bql_handing *handing;
	struct stop *stop;
	__u32 queue;

	if (!dev_is_ours(dev))
		return 0;
	handing = scratch_here(bql_handing);
	queue = skb->queue_mapping;
	stop = row_at(&bql_stop, queue);
	if (!handing || !stop)
		return 0;
	handing->skb = (__u64)skb;
	handing->queue = queue;
	if (stop->since)
		stop_ends(stop, queue, txq_of(dev, queue));
	return 0;
}

static __always_inline __u32 slot_of(__u64 value, __u32 slots)
{
	__u32 slot = loglin_slot(value);

	return slot < slots ? slot : slots - 1;
}

static __noinline int limit_look(const struct netdev_queue *txq, struct stop *stop, __u32 queue)
{
	__u32 came, limit, bytes;
	struct bql *row;
	__u64 stalls;

	if (!bpf_core_field_exists(txq->dql) || !stop)
		return 0;
	came = BPF_CORE_READ(txq, dql.num_queued);
	if (!came)		/* a driver without BQL never counts; one with, 2^32 bytes later */
		return 0;
	row = bql_row(queue);
	if (!row)
		return 0;
	bytes = came - BPF_CORE_READ(txq, dql.num_completed);
	limit = BPF_CORE_READ(txq, dql.limit);
	HIST_ADD(row->in_flight, slot_of(bytes, BQL_SIZE_SLOTS), bytes);
	if (limit) {		/* 0 until the first completion */
		__u64 fill = (__u64)bytes * BQL_FULL / limit;

		HIST_ADD(row->fill, slot_of(fill, BQL_FILL_SLOTS), fill);
	}
	if (!bpf_core_field_exists(txq->dql.stall_cnt))
		return 0;
	stalls = BPF_CORE_READ(txq, dql.stall_cnt);
	if (stop->stalls_seen && stalls > stop->stalls)
		row->stalls += stalls - stop->stalls;
	stop->stalls = stalls;
	stop->stalls_seen = 1;
	return 0;
}

/* skb may be freed by now: only its address may be used. */
static __always_inline int returned(const void *skb, int rc, const struct net_device *dev)
{
	const struct netdev_queue *txq;
	struct bql_handing *handing;
	unsigned long state;
	struct stop *stop;

	if (dev_is_other(dev))
		return 0;
	handing = scratch_here(bql_handing);
	if (!handing || handing->skb != (__u64)skb)
		return 0;
	handing->skb = 0;
	stop = row_at(&bql_stop, handing->queue);
	if (!stop)
		return 0;
	txq = txq_of(dev, handing->queue);
	state = state_of(txq);
	if (state)		/* what it refused it wants to send */
		stop_begins(stop, handing->queue, state, rc >= XMIT_TAKEN);
	return limit_look(txq, stop, handing->queue);
}

SEC("tp_btf/net_dev_xmit")
int BPF_PROG(bql_done, const struct sk_buff *skb, int rc, const struct net_device *dev)
{
	return returned(skb, rc, dev);
}

SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(bql_hand, const struct sk_buff *skb, const struct net_device *dev)
{
	return handed_over(skb, dev);
}

SEC("tp_btf/net_dev_queue")
int BPF_PROG(bql_came, const struct sk_buff *skb)
{
	return queued(skb);
}

char _license[] SEC("license") = "GPL";
