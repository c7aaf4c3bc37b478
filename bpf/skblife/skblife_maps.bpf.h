/* SPDX-License-Identifier: GPL-2.0 */
/* The maps of packets that skblife follows, and of the rows that count them. */
#ifndef NICPROBE_SKBLIFE_MAPS_BPF_H
#define NICPROBE_SKBLIFE_MAPS_BPF_H

#include "bpf/common/half.bpf.h"
#include "bpf/common/scratch.bpf.h"
#include "bpf/common/skb.bpf.h"
#include "bpf/skblife/skblife.h"

/* One row for all CPUs, written by atomic adds: only sampled packets come here. */
MAP(HASH, skblife, struct skblife_key, struct skblife, 1024);

/*
 * Packets that are followed, by address. Most skbs are not: they cost a read of one cache line of
 * `life_keys`. A live entry is never evicted. The lives are in another map.
 */
#define LIFE_BITS	11
#define LIFE_WAYS	4
struct life_bucket {
	__u64 skb[LIFE_WAYS];
};
MAP(ARRAY, life_keys, __u32, struct life_bucket, 1 << LIFE_BITS);

struct life {
	__u64 at[4];		/* when it began; when it left its first, second, third stage */
	__u64 head;		/* its buffer, by which same() recognises it */
	__u32 queue;
	__u32 first, stage;	/* enum skblife_stage */
	__u32 unused;		/* the verifier wants every byte written; 6.1 */
};
MAP(ARRAY, life_of, __u32, struct life, LIFE_WAYS << LIFE_BITS);

/* The followed packets that are in GRO, in a driver's xmit, or in TCP on this CPU. */
struct life_busy {
	__u64 merging, xmit, tcp, tcp_sk;
};
SCRATCH_MAP(life_busy, struct life_busy);

/* Followed packets, plus the words set in life_busy: if 0, events of others cost one read. */
static __u64 life_watched;

#define ADD(word, n) __sync_fetch_and_add(&(word), n)

static __always_inline struct life_busy *busy_now(void)
{
	return scratch_here(life_busy);
}

/* By atomic exchange: an interrupt may come in between. */
static __always_inline void busy_set(__u64 *word, __u64 skb)
{
	if (!__sync_lock_test_and_set(word, skb))
		ADD(life_watched, 1);
}

static __always_inline void busy_clear(__u64 *word)
{
	if (__sync_lock_test_and_set(word, 0))
		ADD(life_watched, -1);
}

static const struct skblife life_nothing;

static __always_inline struct skblife *life_row(__u32 first, __u32 queue, __u32 stage)
{
	struct skblife_key key = {
		.sent = first == LIFE_QDISC, .queue = { queue >> 8, queue }, .stage = stage,
	};
	struct skblife *row = lookup_or_init(&skblife, &key, &life_nothing);

	if (!row)
		lost_add(METER_skblife, 1);
	return row;
}

/* Not static, so that the verifier checks these once and not for each caller. */
__noinline int life_came(__u32 first, __u32 queue, __u32 stage)
{
	struct skblife *row = life_row(first, queue, stage);

	if (row)
		ADD(row->came, 1);
	return 0;
}

__noinline int life_went(__u32 first, __u32 queue, __u32 stage)
{
	struct skblife *row = life_row(first, queue, stage);

	if (row)
		ADD(row->went, 1);
	return 0;
}

__noinline int life_time(__u32 first, __u32 queue, __u32 stage, __u64 ns)
{
	struct skblife *row = life_row(first, queue, stage);
	__u32 slot = loglin_slot(ns);

	if (row && slot < LOGLIN_SLOTS) {
		ADD(row->time.sum, ns);
		ADD(row->time.slot[slot], 1);
	}
	return 0;
}

/* Counts an end in the row of a stage: `how` is an end, or NR_LIFE_ENDS + a loss. */
__noinline int life_left(__u32 first, __u32 queue, __u32 stage, __u32 how)
{
	struct skblife *row = life_row(first, queue, stage);

	if (!row)
		return 0;
	ADD(row->went, 1);
	if (how < NR_LIFE_ENDS)
		ADD(row->ended[how], 1);
	else if (how - NR_LIFE_ENDS < NR_LIFE_LOST)
		ADD(row->lost[how - NR_LIFE_ENDS], 1);
	return 0;
}

/* Times are counted at the end of complete lives only, so that stages add up to the whole. */
__noinline int life_count(const struct life *life, __u32 how)
{
	__u64 from, to;

	if (!life)
		return 0;
	life_left(life->first, life->queue, LIFE_WHOLE, how);
	life_left(life->first, life->queue, life->stage, how);
	if (how >= LIFE_DROPPED)
		return 0;
	from = life->at[0];
	for (__u32 i = 0; i < 3 && life->first + i <= life->stage; i++) {
		to = life->first + i < life->stage ? life->at[i + 1] : bpf_ktime_get_ns();
		if (to < from)
			to = from;
		life_time(life->first, life->queue, life->first + i, to - from);
		from = to;
	}
	return life_time(life->first, life->queue, LIFE_WHOLE, from - life->at[0]);
}

static __always_inline __u32 life_home(const void *skb)
{
	return (lower_half(skb) >> 6) * 2654435769u >> (32 - LIFE_BITS);
}

/* Index of its place, + 1; 0: it is not followed. */
static __always_inline __u32 life_find(const void *skb)
{
	__u32 home = life_home(skb);
	struct life_bucket *b = bpf_map_lookup_elem(&life_keys, &home);

	if (!b)
		return 0;
	for (int i = 0; i < LIFE_WAYS; i++)
		if (b->skb[i] == (__u64)skb)
			return home * LIFE_WAYS + i + 1;
	return 0;
}

static __always_inline struct life *life_at(__u32 place)
{
	__u32 key = place - 1;

	return bpf_map_lookup_elem(&life_of, &key);
}

/* The life of a packet that is followed, and its place; NULL: it is not followed. */
static __always_inline struct life *life_of_skb(const void *skb, __u32 *place)
{
	*place = life_find(skb);
	return *place ? life_at(*place) : NULL;
}

static __always_inline __u64 *life_key_at(__u32 place)
{
	__u32 key = (place - 1) / LIFE_WAYS;
	struct life_bucket *b = bpf_map_lookup_elem(&life_keys, &key);

	return b ? &b->skb[(place - 1) % LIFE_WAYS] : NULL;
}

/*
 * A place in which a life ends: nobody finds it, nobody takes it. Until it is free again no other
 * CPU may move the life: a program may read a packet while the CPU that queued it is about to say
 * so.
 */
#define LIFE_ENDING	1
#define LIFE_OVER	NR_LIFE_STAGES

/* Ends the life at `place`. If two CPUs end it at once, the second does nothing. */
__noinline int life_end(__u32 place, __u32 how)
{
	struct life *at = life_at(place), life;
	__u64 *key = life_key_at(place), skb;
	__u32 stage;

	if (!at || !key)
		return 0;
	skb = *key;
	if (skb <= LIFE_ENDING || __sync_val_compare_and_swap(key, skb, LIFE_ENDING) != skb)
		return 0;
	stage = __sync_lock_test_and_set(&at->stage, LIFE_OVER);
	life = *at;
	life.stage = stage;
	__sync_lock_test_and_set(key, 0);
	ADD(life_watched, -1);
	return life_count(&life, how);
}

/* Moves a life from this stage to the next. Returns 1, or 0 if another CPU was faster. */
__noinline int life_step(__u32 place, __u32 stage)
{
	struct life *life = life_at(place);
	__u64 now = bpf_ktime_get_ns();
	__u32 first, queue;

	if (!life)
		return 0;
	first = life->first;
	queue = life->queue;
	if (__sync_val_compare_and_swap(&life->stage, stage, stage + 1) != stage)
		return 0;
	life->at[(stage + 1 - first) & 3] = now;
	life_went(first, queue, stage);
	life_came(first, queue, stage + 1);
	return 1;
}

#define LONG_AGO 1000000000ull	/* ns: no packet takes that long through the stack */

static __always_inline bool life_claim(__u64 *key, __u64 skb)
{
	if (*key || __sync_val_compare_and_swap(key, 0, skb))
		return false;
	ADD(life_watched, 1);
	return true;
}

/* A free place in the bucket, + 1; if there is none, one of a packet that is long gone. */
static __noinline __u32 life_place(__u64 skb, __u32 home, __u64 now)
{
	struct life_bucket *b = bpf_map_lookup_elem(&life_keys, &home);

	if (!b)
		return 0;
	for (__u32 i = 0; i < LIFE_WAYS; i++)
		if (life_claim(&b->skb[i], skb))
			return home * LIFE_WAYS + i + 1;
	for (__u32 i = 0; i < LIFE_WAYS; i++) {
		struct life *life = life_at(home * LIFE_WAYS + i + 1);

		if (!life || life->stage != LIFE_STACK || now - life->at[1] < LONG_AGO)
			continue;
		life_end(home * LIFE_WAYS + i + 1, NR_LIFE_ENDS + LIFE_UNSEEN);
		if (life_claim(&b->skb[i], skb))
			return home * LIFE_WAYS + i + 1;
	}
	return 0;
}

static __noinline bool life_begin(__u64 skb, __u32 home, __u64 head, __u32 first, __u32 queue)
{
	struct life new = { .at = { bpf_ktime_get_ns() }, .head = head, .first = first,
			    .stage = first };
	__u32 place = life_place(skb, home, new.at[0]);
	struct life *life = life_at(place);

	new.queue = queue < TOLD(rows) - 1 ? queue : 0xffff;
	life_came(first, new.queue, LIFE_WHOLE);
	life_came(first, new.queue, first);
	if (!place || !life) {
		life_count(&new, NR_LIFE_ENDS + LIFE_FULL);
		return false;
	}
	*life = new;
	return true;
}

/*
 * Is a received packet in the stack the one that we follow? Some skbs are freed untraced (a TCP
 * ACK, or one that TCP merged into another), and their address is reused. A new packet from a
 * driver has passed our hooks. One made by this host has no skb_iif, and a clone has the buffer of
 * another. Ours may get a new buffer (generic XDP) but is no clone then.
 */
static __always_inline bool same(const struct life *life, const struct sk_buff *skb)
{
	if (!PLAIN(skb, skb_iif))
		return false;
	return (__u64)PLAIN(skb, head) == life->head ||
	       !BPF_CORE_READ_BITFIELD_PROBED(skb, cloned);
}

#endif
