/* SPDX-License-Identifier: GPL-2.0 */
/* Time from the driver's xmit (txlat_started()) until it frees the packet (txlat_freed()). */
#ifndef NICPROBE_TXLAT_BPF_H
#define NICPROBE_TXLAT_BPF_H

#include "bpf/common/half.bpf.h"
#include "bpf/common/sampled.bpf.h"
#include "bpf/common/scratch.bpf.h"
#include "bpf/common/skb.bpf.h"
#include "bpf/txlat/txlat.h"

METER_MAP(txlat);

/*
 * Packets in flight, by the address of the skb. The cost of the table is cache and TLB misses, and
 * the allocator returns the skbs of a page one after the other: so they have adjacent places, one
 * per skb. If an skb of another page is in the place, the new one goes to the overflow; `elsewhere`
 * counts it, and only then is the overflow searched. A live entry is never overwritten.
 */
#define PLACES	16	/* skbs of 256 bytes per page */
struct skb_place {
	__u64 skb;
	__u64 stamp;		/* ns << QUEUE_BITS | queue */
};

struct chunk {		/* a page's skbs; BPF_F_MMAPABLE aligns it to cache lines */
	struct skb_place place[PLACES];
};
ALIGNED_MAP(txlat_flight, struct chunk, 1);
_Static_assert(sizeof(struct chunk) == PLACES * 16, "a page of skbs of 256 bytes, a place each");

/* Per chunk: the number of its packets in the overflow. */
MAP(ARRAY, txlat_elsewhere, __u32, __u32, 1);

/* A bucket is one cache line. A packet whose bucket is full goes to one of the next. */
#define WAYS	4
#define BUCKETS	8	/* searched at most */
struct bucket {
	struct skb_place place[WAYS];
};
_Static_assert(sizeof(struct bucket) == 64, "one cache line");
ALIGNED_MAP(txlat_overflow, struct bucket, 1);

/*
 * The packet in the driver's xmit on this CPU: if freed meanwhile, it was not completed. With
 * takes_all nothing sees xmit return, so it stays here until the next one: such a driver drops by
 * kfree_skb(), and consume_skb() completes.
 */
struct txlat_xmit {
	__u64 skb;
	__u32 queue;
	__u32 replaces;		/* 1: an older skb with this address was freed unseen */
};
SCRATCH_MAP(txlat_xmit, struct txlat_xmit);

static __always_inline struct txlat_xmit *xmit_now(void)
{
	return scratch_here(txlat_xmit);
}

#define HASH(n) ((n) * 2654435769u)

static __always_inline __u32 chunk_of(__u32 half)
{
	return HASH(half >> 12) >> TOLD(flight_shift);
}

static __always_inline struct skb_place *place_of(const void *skb)
{
	__u32 half = lower_half(skb);
	struct chunk *c = row_at(&txlat_flight, chunk_of(half));

	return c ? &c->place[half >> 8 & (PLACES - 1)] : NULL;
}

static __always_inline struct bucket *bucket_at(__u32 half, __u32 i)
{
	/* skbs are at least 64 bytes apart: ignore the low 6 bits */
	__u32 index = (HASH(half >> 6) >> TOLD(flight_shift)) + i;

	return row_at(&txlat_overflow, index & 0xffffffffu >> TOLD(flight_shift));
}

static __always_inline __u32 *elsewhere_of(__u32 half)
{
	return row_at(&txlat_elsewhere, chunk_of(half));
}

/*
 * On one CPU consume_skb can be interrupted by kfree_skb, and both by an xmit, but a program never
 * by itself. So each of the two ends writes its own lane of rows, and xmit writes other words. If
 * a program misses an event because it is already running, a second copy of it on the tracepoint
 * still finds the packet in flight; these copies may interrupt each other and share a lane.
 */
enum txlat_lane { CONSUMED, FREED, AGAIN };

#define COUNT(word, lane, n)	\
	((lane) == AGAIN ? (void)__sync_fetch_and_add(&(word), n) : (void)((word) += (n)))

static __always_inline struct txlat *txlat_row(__u32 queue, enum txlat_lane lane)
{
	return own_row(txlat, lane * TOLD(rows) + row_of(0, queue));
}

/* Claims the place if it is free, else returns false. */
static __always_inline bool place_put(struct skb_place *p, __u64 skb, __u64 stamp)
{
	if (p->skb || __sync_val_compare_and_swap(&p->skb, 0, skb))
		return false;
	p->stamp = stamp;
	return true;
}

static __always_inline __u64 place_take(struct skb_place *p)
{
	__u64 stamp = p->stamp;

	p->skb = 0;
	return stamp;
}

struct txlat_asked {
	__u64 skb, stamp;
};

/*
 * Not static, so that the verifier checks these once and not for each caller. They take a struct
 * as ipv6_headers() does.
 */
__noinline int put_elsewhere(const struct txlat_asked *a)
{
	__u32 *more = a ? elsewhere_of(a->skb) : NULL;

	if (!more)
		return false;
	/* Count it before it is inserted, so that freeing it searches the overflow. */
	__sync_fetch_and_add(more, 1);
	for (__u32 i = 0; i < BUCKETS; i++) {
		struct bucket *b = bucket_at(a->skb, i);

		for (int w = 0; b && w < WAYS; w++)
			if (place_put(&b->place[w], a->skb, a->stamp))
				return true;
	}
	__sync_fetch_and_add(more, -1);
	return false;
}

__noinline __u64 take_elsewhere(const struct txlat_asked *a)
{
	__u32 *more = a ? elsewhere_of(a->skb) : NULL;

	for (__u32 i = 0; more && i < BUCKETS; i++) {
		struct bucket *b = bucket_at(a->skb, i);

		for (int w = 0; b && w < WAYS; w++)
			if (b->place[w].skb == a->skb) {
				__sync_fetch_and_add(more, -1);
				return place_take(&b->place[w]);
			}
	}
	return 0;
}

static __always_inline bool txlat_put_elsewhere(const void *skb, __u64 stamp)
{
	struct txlat_asked asked = { .skb = (__u64)skb, .stamp = stamp };

	return put_elsewhere(&asked);
}

/* Removes an skb; p: its place. Returns its stamp, or 0: it was not there. */
static __always_inline __u64 txlat_take(const void *skb, struct skb_place *p)
{
	struct txlat_asked asked;
	__u32 *more;

	if (p->skb == (__u64)skb)
		return place_take(p);
	more = elsewhere_of(lower_half(skb));
	if (!more || !*more)
		return 0;
	asked = (struct txlat_asked){ .skb = (__u64)skb };
	return take_elsewhere(&asked);
}

static __always_inline int txlat_started(const struct sk_buff *skb)
{
	struct txlat_xmit *xmit;
	struct skb_place *place;
	struct txlat *row;
	__u64 stamp;
	__u32 queue;

	if (!sampled(METER_txlat))
		return 0;
	xmit = xmit_now();
	place = place_of(skb);
	queue = skb->queue_mapping;
	row = txlat_row(queue, CONSUMED);
	if (!xmit || !place || !row)
		return 0;
	xmit->queue = queue;
	xmit->replaces = !!txlat_take(skb, place);
	xmit->skb = (__u64)skb;
	/* counted here and not on return, so that cache misses overlap */
	row->came += !xmit->replaces;
	row->lost[TXLAT_NEVER_FREED] += xmit->replaces;
	stamp = bpf_ktime_get_ns() << QUEUE_BITS | (queue & QUEUE_MASK);
	if (!place_put(place, (__u64)skb, stamp) && !txlat_put_elsewhere(skb, stamp)) {
		xmit->skb = 0;
		row->came -= !xmit->replaces;
		row->lost[TXLAT_FULL]++;
	}
	return 0;
}

/* skb may be freed by now: only its address may be used. */
static __always_inline int txlat_returned(const void *skb, int rc)
{
	struct txlat_xmit *xmit = xmit_now();
	struct skb_place *place;
	struct txlat *row;

	if (!xmit || xmit->skb != (__u64)skb)
		return 0;
	xmit->skb = 0;
	if (rc < XMIT_TAKEN)
		return 0;
	row = txlat_row(xmit->queue, CONSUMED);
	place = place_of(skb);
	if (!row || !place)
		return 0;
	txlat_take(skb, place);
	row->came -= !xmit->replaces;
	row->retried++;
	return 0;
}

static __always_inline int txlat_freed(const struct sk_buff *skb, enum txlat_lane lane)
{
	const struct net_device *dev;
	struct txlat_xmit *xmit;
	struct skb_place *place;
	struct txlat *row;
	__u64 stamp, now, ns;
	bool moved;

	/* Most freed skbs are not ours: skip them early if our packets keep their device. */
	dev = ARGUMENT_READ(skb, dev);
	if (dev_never_ours(dev))
		return 0;
	barrier();
	moved = !dev || dev->ifindex != (int)TOLD(ifindex);
	if (moved && is_set(stays))
		return 0;
	place = place_of(skb);
	stamp = place ? txlat_take(skb, place) : 0;
	if (!stamp)
		return 0;
	now = bpf_ktime_get_ns();
	row = txlat_row(stamp & QUEUE_MASK, lane);
	xmit = xmit_now();
	if (!row || !xmit)
		return 0;
	COUNT(row->went, lane, 1);
	if (xmit->skb == (__u64)skb && !(is_set(takes_all) && lane == CONSUMED)) {
		xmit->skb = 0;
		COUNT(row->lost[TXLAT_FREED_IN_XMIT], lane, 1);
		return 0;
	}
	if (moved) {
		COUNT(row->lost[TXLAT_MOVED], lane, 1);
		return 0;
	}
	/* both shifted, so the difference is right even if the stamp has wrapped */
	ns = ((now << QUEUE_BITS) - (stamp & ~(__u64)QUEUE_MASK)) >> QUEUE_BITS;
	COUNT(row->completion.sum, lane, ns);
	COUNT(row->completion.slot[loglin_slot(ns)], lane, 1);
	return 0;
}

#endif
