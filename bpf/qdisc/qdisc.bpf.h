/* SPDX-License-Identifier: GPL-2.0 */
/* Time from a packet's entry to the qdisc until its xmit, per TX queue and kind of qdisc. */
#ifndef NICPROBE_QDISC_BPF_H
#define NICPROBE_QDISC_BPF_H

#include "bpf/common/again.bpf.h"
#include "bpf/common/host.bpf.h"
#include "bpf/common/sampled.bpf.h"
#include "bpf/common/skb.bpf.h"
#include "bpf/common/scratch.bpf.h"
#include "bpf/qdisc/qdisc_flight.bpf.h"
#include "bpf/qdisc/qdisc_kind.bpf.h"

#define NOT_SPECIFIED (int)bpf_core_enum_value(enum skb_drop_reason, SKB_DROP_REASON_NOT_SPECIFIED)

METER_KEYED_MAP(qdisc, QDISC_KINDS);

/* Number of drops by location, where the reason does not name a qdisc. */
MAP(HASH, qdisc_places, struct qdisc_place, __u64, QDISC_PLACES);

/* State of this CPU. */
struct qdisc_now {
	__u64 entering;		/* the last packet that came to the qdisc */
	/* stamp of a packet that was split, and when; it `went`, but who split it shows later */
	__u64 parent, split;
	__u64 xmit;		/* the packet in the driver's xmit… */
	__u64 stamp, at;	/* …its stamp (0: not followed), and when */
};
SCRATCH_MAP(qdisc_now, struct qdisc_now);

static const struct qdisc zero;

static __noinline struct qdisc *row_make(__u64 stamp)
{
	struct qdisc_key key = {};
	struct qdisc *row;

	key_fill(stamp, &key);
	row = lookup_or_init(&qdisc, &key, &zero);
	if (!row)
		lost_add(METER_qdisc, 1);
	return row;
}

static __always_inline __u32 place_in(const struct sk_buff *skb,
				      const struct net_device *dev)
{
	__u32 queue = skb->queue_mapping & QUEUE_MASK;

	return kind_of(dev, queue) << QUEUE_BITS | queue;
}

/*
 * Writers of a row: packets enter, are split and are sent with softirqs off. Only a drop can be in
 * a process (when RTNL destroys a qdisc), where the others may interrupt it. So drops have separate
 * words, except `went`, to which they add atomically.
 */
static __noinline int timed(__u64 stamp, __u64 now, bool segmented, bool went)
{
	struct qdisc *row = row_make(stamp);
	__u64 ns;

	if (!row)
		return 0;
	/* both shifted, so the difference is right even if the stamp has wrapped */
	ns = ((now << STAMP_SHIFT) - (stamp & ~(__u64)STAMP_MASK)) >> STAMP_SHIFT;
	row->went += went;
	row->segmented += segmented;
	HIST_ADD(row->wait, loglin_slot(ns), ns);
	return 0;
}

static __noinline int lose(__u64 stamp, enum qdisc_lost cause, bool came)
{
	struct qdisc *row = row_make(stamp);

	if (row && cause < NR_QDISC_LOST) {
		row->went += came;
		row->lost[cause]++;
	}
	return 0;
}

static __always_inline struct qdisc_now *now_here(void)
{
	return scratch_here(qdisc_now);
}

static __always_inline int qdisc_queued(const struct sk_buff *skb, const struct net_device *dev)
{
	struct qdisc_now *here = now_here();
	struct qdisc *row;
	__u64 old, place;

	if (!here)
		return 0;
	if (here->parent) {	/* its segments were not sent: dropped, or queued elsewhere */
		lose(here->parent, QDISC_SEGMENTED, false);
		here->parent = 0;
	}
	here->entering = 0;
	if (!sampled(METER_qdisc))
		return 0;
	place = place_in(skb, dev);
	old = flight_take(skb);
	if (old)
		lose(old, QDISC_VANISHED, true);
	if (!flight_put(skb, bpf_ktime_get_ns() << STAMP_SHIFT | place)) {
		lose(place, QDISC_FULL, false);
		return 0;
	}
	here->entering = (__u64)skb;
	row = row_make(place);
	if (row)
		row->came++;
	return 0;
}

/* The packet is in the queue: if it was split on the way in, the qdisc did it. */
static __always_inline int qdisc_enqueued(__u64 skb)
{
	struct qdisc_now *here = now_here();

	if (!here || here->entering != skb)
		return 0;
	here->entering = 0;
	if (here->parent)
		lose(here->parent, QDISC_SEGMENTED, false);
	here->parent = 0;
	return 0;
}

/* A waiting packet is consumed only by software GSO, in the qdisc or after it. */
static __always_inline int qdisc_used(const struct sk_buff *skb)
{
	const struct net_device *dev;
	struct qdisc_now *here;
	struct qdisc *row;
	__u64 stamp;

	dev = ARGUMENT_READ(skb, dev);
	if (!dev_may_be_ours(dev))
		return 0;
	/*
	 * Most are completed by the driver: if all were followed, to read more of the skb is
	 * cheaper than a lookup; if few were, few waits change the table, and the skb is often a
	 * cache miss.
	 */
	if ((thins(METER_qdisc) && !flight_may_have(skb)) || !skb_is_gso(skb))
		return 0;
	stamp = flight_take(skb);
	if (!stamp)
		return 0;
	here = now_here();
	if (here && here->entering == (__u64)skb) {
		/* on the way in, or bypassing an empty qdisc: the next event will tell */
		here->parent = stamp;
		here->split = bpf_ktime_get_ns();
		row = row_make(stamp);
		if (row)
			row->went++;
		return 0;
	}
	return timed(stamp, bpf_ktime_get_ns(), true, true);
}

static __always_inline bool qdisc_reason(int reason)
{
#define IS(name) \
	(bpf_core_enum_value_exists(enum skb_drop_reason, SKB_DROP_REASON_##name) && \
	 reason == (int)bpf_core_enum_value(enum skb_drop_reason, SKB_DROP_REASON_##name))
	return IS(QDISC_DROP) || IS(QDISC_OVERLIMIT) || IS(QDISC_CONGESTED) || IS(CAKE_FLOOD) ||
	       IS(FQ_BAND_LIMIT) || IS(FQ_HORIZON_LIMIT) || IS(FQ_FLOW_LIMIT);
#undef IS
}

/* Since 6.13 drops of codel and cake at dequeue have a reason. */
#define REASONS_TOLD \
	bpf_core_enum_value_exists(enum skb_drop_reason, SKB_DROP_REASON_QDISC_CONGESTED)

static __noinline int place_add(__u64 stamp, __u64 location, bool followed)
{
	struct qdisc_place key = { .followed = followed, .location = location };
	__u64 *count, none = 0;

	key_fill(stamp, &key.at);
	count = lookup_or_init(&qdisc_places, &key, &none);
	if (count)
		__sync_fetch_and_add(count, 1);
	return 0;
}

static __always_inline int qdisc_freed(const struct sk_buff *skb, const struct net_device *dev,
				       __u64 location, int reason)
{
	struct qdisc *row;
	__u64 stamp, place;
	bool by_qdisc;

	stamp = flight_take(skb);
	barrier_var(reason);		/* asked for it earlier, the verifier does all this twice */
	by_qdisc = qdisc_reason(reason);
	if (!stamp && !by_qdisc && (REASONS_TOLD || reason != NOT_SPECIFIED))
		return 0;
	place = stamp ?: place_in(skb, dev);
	if (!by_qdisc)
		place_add(place, location, stamp);
	if (!stamp && !by_qdisc)
		return 0;
	row = row_make(place);
	if (!row)
		return 0;
	/* the other copy of the program may be here at the same time */
	if (stamp)
		__sync_fetch_and_add(&row->went, 1);
	if (by_qdisc)
		__sync_fetch_and_add(&row->dropped[QDISC_DROPPED], 1);
	else
		__sync_fetch_and_add(&row->dropped[QDISC_DROPPED_OTHER], 1);
	return 0;
}

static __always_inline int qdisc_started(const struct sk_buff *skb)
{
	struct qdisc_now *here = now_here();

	if (!here)
		return 0;
	if (here->parent) {
		timed(here->parent, here->split, true, false);
		here->parent = 0;
	}
	here->xmit = (__u64)skb;
	here->stamp = flight_take(skb);
	if (here->stamp)
		here->at = bpf_ktime_get_ns();
	else			/* in case it is requeued */
		here->at = skb->queue_mapping & QUEUE_MASK;
	return 0;
}

static __noinline int refused(__u64 place)
{
	struct qdisc *row = row_make(place);

	if (row)
		row->refused++;
	return 0;
}

/* Unless requeued, skb may be freed by now: only its address may be used. */
static __always_inline int qdisc_returned(const void *skb, int rc, const struct net_device *dev)
{
	struct qdisc_now *here = now_here();

	if (!here || here->xmit != (__u64)skb)
		return 0;
	here->xmit = 0;
	if (rc < XMIT_TAKEN)
		return here->stamp ? timed(here->stamp, here->at, false, true) : 0;
	/* It is requeued and continues to wait. */
	if (!here->stamp)
		return refused(kind_of(dev, here->at) << QUEUE_BITS | here->at);
	if (!flight_put(skb, here->stamp))
		lose(here->stamp, QDISC_FULL, true);
	return refused(here->stamp);
}

SEC("tp_btf/qdisc_enqueue")
int BPF_PROG(qdisc_in, const void *q, const struct netdev_queue *txq, const void *skb)
{
	const struct net_device *dev = ARGUMENT(txq)->dev;

	if (dev_is_other(dev))
		PASS(ctx, qdisc_in, dev);
	else if (meter_on(METER_qdisc))
		qdisc_enqueued((__u64)skb);
	return 0;
}

#undef NOT_SPECIFIED
#undef REASONS_TOLD

#endif
