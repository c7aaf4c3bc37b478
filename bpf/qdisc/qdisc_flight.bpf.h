/* SPDX-License-Identifier: GPL-2.0 */
/* The packets in a qdisc, by address: cache-line buckets, no lock, no eviction. */
#ifndef NICPROBE_QDISC_FLIGHT_BPF_H
#define NICPROBE_QDISC_FLIGHT_BPF_H

#include "bpf/common/half.bpf.h"
#include "lib/core/meter.bpf.h"

/*
 * A bucket is one cache line of an ALIGNED_MAP(): an array otherwise begins at byte 56 of a line.
 * An skb whose bucket is full goes to one of the next, and its bucket counts it: only then are the
 * next ones searched. An skb has one owner at a time, so put and take of it alternate.
 * config.waiting_shift is 32 - log2 of the number of buckets; a stamp is not 0.
 */
#define FLIGHT_WAYS	3
#define FLIGHT_BUCKETS	8	/* searched at most */
struct flight_bucket {
	__u64 skb[FLIGHT_WAYS];
	__u64 elsewhere;	/* skbs of this bucket that are in the next ones */
	__u64 stamp[FLIGHT_WAYS];
	__u64 unused;
};
ALIGNED_MAP(qdisc_waiting, struct flight_bucket, 1);

static __always_inline __u32 flight_home(const void *skb)
{
	return (lower_half(skb) >> 6) * 2654435769u >> TOLD(waiting_shift);
}

static __always_inline struct flight_bucket *flight_at(__u32 home, __u32 i)
{
	return row_at(&qdisc_waiting, (home + i) & (0xffffffffu >> TOLD(waiting_shift)));
}

/* Claim a free slot. False: there is none. */
static __always_inline bool flight_claim(struct flight_bucket *b, __u64 skb, __u64 stamp)
{
	for (int i = 0; i < FLIGHT_WAYS; i++)
		if (!b->skb[i] && !__sync_val_compare_and_swap(&b->skb[i], 0, skb)) {
			b->stamp[i] = stamp;
			return true;
		}
	return false;
}

/* Free the slot of an skb. Returns its stamp, or 0: it was not there. */
static __always_inline __u64 flight_leave(struct flight_bucket *b, __u64 skb)
{
	for (int i = 0; i < FLIGHT_WAYS; i++)
		if (b->skb[i] == skb) {
			__u64 stamp = b->stamp[i];

			b->skb[i] = 0;
			return stamp;
		}
	return 0;
}

struct flight_asked {
	__u64 skb, stamp;
	__u64 home;
};

/*
 * Not static, so that the verifier checks these once and not for each caller. They take a struct
 * as ipv6_headers() does.
 */
__noinline int flight_put_next(const struct flight_asked *a)
{
	struct flight_bucket *b = a ? flight_at(a->home, 0) : NULL, *next;

	if (!b)
		return false;
	/* Count it before it is inserted, so that taking it searches the next buckets. */
	__sync_fetch_and_add(&b->elsewhere, 1);
	for (__u32 i = 1; i < FLIGHT_BUCKETS; i++) {
		next = flight_at(a->home, i);
		if (next && flight_claim(next, a->skb, a->stamp))
			return true;
	}
	__sync_fetch_and_add(&b->elsewhere, -1);
	return false;
}

__noinline __u64 flight_take_next(const struct flight_asked *a)
{
	struct flight_bucket *b = a ? flight_at(a->home, 0) : NULL, *next;

	for (__u32 i = 1; b && i < FLIGHT_BUCKETS; i++) {
		__u64 stamp = 0;

		next = flight_at(a->home, i);
		if (next)
			stamp = flight_leave(next, a->skb);
		if (stamp) {
			__sync_fetch_and_add(&b->elsewhere, -1);
			return stamp;
		}
	}
	return 0;
}

/* Remove an skb. Returns its stamp, or 0: it was not there. */
static __always_inline __u64 flight_take(const void *skb)
{
	__u32 home = flight_home(skb);
	struct flight_bucket *b = flight_at(home, 0);
	__u64 stamp = b ? flight_leave(b, (__u64)skb) : 0;
	struct flight_asked asked;

	if (stamp || !b || !b->elsewhere)
		return stamp;
	asked = (struct flight_asked){ .skb = (__u64)skb, .home = home };
	return flight_take_next(&asked);
}

/* False: it is not there. True: it is, or is worth a search. */
static __always_inline bool flight_may_have(const void *skb)
{
	const struct flight_bucket *b = flight_at(flight_home(skb), 0);

	for (int i = 0; b && i < FLIGHT_WAYS; i++)
		if (b->skb[i] == (__u64)skb)
			return true;
	return !b || b->elsewhere;
}

/* Insert an skb. False: there is no room. */
static __always_inline bool flight_put(const void *skb, __u64 stamp)
{
	__u32 home = flight_home(skb);
	struct flight_bucket *b = flight_at(home, 0);
	struct flight_asked asked;

	if (!b || flight_claim(b, (__u64)skb, stamp))
		return b;
	asked = (struct flight_asked){ .skb = (__u64)skb, .stamp = stamp, .home = home };
	return flight_put_next(&asked);
}

#endif
