/* SPDX-License-Identifier: GPL-2.0 */
/* From the hand-over to the driver until the driver lets go of the packet. */
#include "bpf/common/half.bpf.h"
#include "bpf/common/scratch.bpf.h"
#include "bpf/common/skb.bpf.h"
#include "bpf/txlat/txlat.h"
#include <bpf/bpf_tracing.h>


METER_MAP(txlat);

/*
 * Packets in flight, by the address of the skb. What a table costs here is
 * misses of the cache and of the TLB, and the allocator gives out the skbs of a
 * page one after the other: so they have their places side by side, each its
 * own. Where another page's skb has the place already, it goes to the overflow;
 * `elsewhere` counts it, so that only then that is searched. A live entry is
 * never overwritten.
 */
#define PLACES	16	/* of 256 bytes: what an skb takes */
struct place {
	__u64 skb;
	__u64 stamp;		/* ns << QUEUE_BITS | queue */
};

struct chunk {		/* a page's skbs; BPF_F_MMAPABLE: its cache lines are whole */
	struct place place[PLACES];
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct chunk);
} flight SEC(".maps");
_Static_assert(sizeof(struct chunk) == PLACES * 16, "a page of skbs of 256 bytes, a place each");

/* By chunk: its packets that are in the overflow. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} elsewhere SEC(".maps");

/* A bucket is one cache line. Who finds its own full goes to one of the next. */
#define WAYS	4
#define BUCKETS	8	/* searched at the most */
struct bucket {
	struct place place[WAYS];
};
_Static_assert(sizeof(struct bucket) == 64, "one cache line");
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bucket);
} overflow SEC(".maps");

/* What this CPU is handing to the driver: an skb freed meanwhile did not complete. */
struct txlat_handing {
	__u64 skb;
	__u32 queue;
	__u32 replaces;		/* 1: an older one with this address got away unseen */
};
SCRATCH_MAP(txlat_handing, struct txlat_handing);

static __always_inline struct txlat_handing *handing_now(void)
{
	return scratch_here(txlat_handing);
}

#define HASH(n) ((n) * 2654435769u)

static __always_inline __u32 chunk_of(__u32 half)
{
	return HASH(half >> 12) >> config.flight_shift;
}

static __always_inline struct place *place_of(const void *skb)
{
	__u32 half = lower_half(skb), chunk = chunk_of(half);
	struct chunk *c = bpf_map_lookup_elem(&flight, &chunk);

	return c ? &c->place[half >> 8 & (PLACES - 1)] : NULL;
}

static __always_inline struct bucket *bucket_at(__u32 half, __u32 i)
{
	/* skbs lie 64 bytes apart at least: the bits below say nothing */
	__u32 index = (HASH(half >> 6) >> config.flight_shift) + i;

	index &= 0xffffffffu >> config.flight_shift;
	return bpf_map_lookup_elem(&overflow, &index);
}

static __always_inline __u32 *elsewhere_of(__u32 half)
{
	__u32 chunk = chunk_of(half);

	return bpf_map_lookup_elem(&elsewhere, &chunk);
}

/*
 * On one CPU consume_skb can be interrupted by kfree_skb, and both by a
 * hand-over; a program never by itself. So the two ends write a lane of rows
 * each, and a hand-over other words. What a program missed as it was running
 * already, a copy of it later on the tracepoint finds in flight still; copies
 * may interrupt each other, and share a lane.
 */
enum lane { CONSUMED, FREED, AGAIN };

#define COUNT(word, lane, n)	\
	((lane) == AGAIN ? (void)__sync_fetch_and_add(&(word), n) : (void)((word) += (n)))

static __always_inline struct txlat *txlat_row(__u32 queue, enum lane lane)
{
	return row_at(&txlat, lane * config.rows + row_of(0, queue));
}

/* Takes the place if it is free, or returns false. */
static __always_inline bool place_put(struct place *p, __u64 skb, __u64 stamp)
{
	if (p->skb || __sync_val_compare_and_swap(&p->skb, 0, skb))
		return false;
	p->stamp = stamp;
	return true;
}

static __always_inline __u64 place_take(struct place *p)
{
	__u64 stamp = p->stamp;

	p->skb = 0;
	return stamp;
}

static __noinline bool put_elsewhere(__u64 skb, __u64 stamp)
{
	__u32 *more = elsewhere_of(skb);

	if (!more)
		return false;
	/* Before it is there: who frees it must search for it. */
	__sync_fetch_and_add(more, 1);
	for (__u32 i = 0; i < BUCKETS; i++) {
		struct bucket *b = bucket_at(skb, i);

		for (int w = 0; b && w < WAYS; w++)
			if (place_put(&b->place[w], skb, stamp))
				return true;
	}
	__sync_fetch_and_add(more, -1);
	return false;
}

static __noinline __u64 take_elsewhere(__u64 skb)
{
	__u32 *more = elsewhere_of(skb);

	for (__u32 i = 0; more && i < BUCKETS; i++) {
		struct bucket *b = bucket_at(skb, i);

		for (int w = 0; b && w < WAYS; w++)
			if (b->place[w].skb == skb) {
				__sync_fetch_and_add(more, -1);
				return place_take(&b->place[w]);
			}
	}
	return 0;
}

/* Out of the table with it; p: its place. Returns its stamp, or 0: it was not there. */
static __always_inline __u64 flight_take(const void *skb, struct place *p)
{
	__u32 *more;

	if (p->skb == (__u64)skb)
		return place_take(p);
	more = elsewhere_of(lower_half(skb));
	return more && *more ? take_elsewhere((__u64)skb) : 0;
}

static __always_inline int handed_over(const struct sk_buff *skb,
				       const struct net_device *dev)
{
	struct txlat_handing *handing;
	struct place *place;
	struct txlat *row;
	__u64 stamp;
	__u32 queue;

	if (!dev_is_ours(dev))
		return 0;
	if (config.sample > 1 && bpf_get_prandom_u32() % config.sample)
		return 0;
	handing = handing_now();
	place = place_of(skb);
	queue = skb->queue_mapping;
	row = txlat_row(queue, CONSUMED);
	if (!handing || !place || !row)
		return 0;
	handing->queue = queue;
	handing->replaces = !!flight_take(skb, place);
	handing->skb = (__u64)skb;
	/* here, and not when the driver has returned: its line is fetched beside the others */
	row->came += !handing->replaces;
	row->lost[TXLAT_NEVER_FREED] += handing->replaces;
	stamp = bpf_ktime_get_ns() << QUEUE_BITS | (queue & QUEUE_MASK);
	if (!place_put(place, (__u64)skb, stamp) && !put_elsewhere((__u64)skb, stamp)) {
		handing->skb = 0;
		row->came -= !handing->replaces;
		row->lost[TXLAT_FULL]++;
	}
	return 0;
}

/* skb may be freed by now: only its address may be used. */
static __always_inline int returned(const void *skb, int rc, const struct net_device *dev)
{
	struct txlat_handing *handing;
	struct place *place;
	struct txlat *row;

	if (dev_is_other(dev))
		return 0;
	handing = handing_now();
	if (!handing || handing->skb != (__u64)skb)
		return 0;
	handing->skb = 0;
	if (rc < XMIT_TAKEN)
		return 0;
	row = txlat_row(handing->queue, CONSUMED);
	place = place_of(skb);
	if (!row || !place)
		return 0;
	flight_take(skb, place);
	row->came -= !handing->replaces;
	row->retried++;
	return 0;
}

static __always_inline int freed(const struct sk_buff *skb, enum lane lane)
{
	const struct net_device *dev = skb->dev;
	struct txlat_handing *handing;
	struct place *place;
	struct txlat *row;
	__u64 stamp, now, ns;
	bool moved;

	/* Most skbs freed are of others: off with them, where no packet of ours can move. */
	if (dev_never_ours(dev))
		return 0;
	barrier();
	moved = !dev || dev->ifindex != (int)config.ifindex;
	if (moved && config.stays)
		return 0;
	place = place_of(skb);
	stamp = place ? flight_take(skb, place) : 0;
	if (!stamp)
		return 0;
	now = bpf_ktime_get_ns();
	row = txlat_row(stamp & QUEUE_MASK, lane);
	handing = handing_now();
	if (!row || !handing)
		return 0;
	COUNT(row->went, lane, 1);
	if (handing->skb == (__u64)skb) {
		handing->skb = 0;
		COUNT(row->lost[TXLAT_FREED_IN_XMIT], lane, 1);
		return 0;
	}
	if (moved) {
		COUNT(row->lost[TXLAT_MOVED], lane, 1);
		return 0;
	}
	/* both shifted: the difference is right when the stamp has wrapped, too */
	ns = ((now << QUEUE_BITS) - (stamp & ~(__u64)QUEUE_MASK)) >> QUEUE_BITS;
	COUNT(row->completion.sum, lane, ns);
	COUNT(row->completion.slot[loglin_slot(ns)], lane, 1);
	return 0;
}

/* Ends before beginnings: libbpf attaches in this order, so no beginning is left without an end. */
#define END(name, tracepoint, lane)			\
	SEC("tp_btf/" tracepoint)			\
	int BPF_PROG(name, const struct sk_buff *skb)	\
	{						\
		return freed(skb, lane);		\
	}

END(txlat_used, "consume_skb", CONSUMED)
END(txlat_free, "kfree_skb", FREED)
END(txlat_used_again, "consume_skb", AGAIN)
END(txlat_free_again, "kfree_skb", AGAIN)

/*
 * Since 6.19 a driver that is done with an skb of another CPU leaves it to that one
 * (napi_consume_skb()), which frees it when it polls next, or nobody traces it: it ends here.
 */
SEC("?fentry/skb_attempt_defer_free")
int BPF_PROG(txlat_deferred, const struct sk_buff *skb)
{
	return freed(skb, AGAIN);
}

SEC("tp_btf/net_dev_xmit")
int BPF_PROG(txlat_done, const struct sk_buff *skb, int rc, const struct net_device *dev)
{
	return returned(skb, rc, dev);
}

SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(txlat_hand, const struct sk_buff *skb, const struct net_device *dev)
{
	return handed_over(skb, dev);
}

char _license[] SEC("license") = "GPL";
