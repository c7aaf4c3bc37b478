/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rows of a keyed meter in a table of its own for each CPU, in one array: no helper is called
 * to find one. A key that was counted is in the set that its hash says, in one of a few places. A
 * new key whose set is full takes the row that has counted least of late, and what that had is
 * added to `lost`: rows and `lost` together have every count.
 *
 * A table is changed by what runs on its CPU, with softirqs off, and read by anybody. No driver
 * hands up packets of one interface both in hard interrupts and out of them, so nothing comes in
 * between, but with PREEMPT_RT. There a task may be put aside for another one anywhere:
 * - what it counts is added in one step, so no other count goes with it;
 * - if the row that it has found becomes another key's, this one packet counts for that key;
 * - while it gives a row to a key, others leave that row alone: a new key that would take it is
 *   added to `lost`, and its own may get a second row, which readers add.
 */
#ifndef NICPROBE_TABLE_BPF_H
#define NICPROBE_TABLE_BPF_H

#include "lib/core/meter.bpf.h"

#ifdef __clang__
#define UNROLL	_Pragma("unroll")
#else
#define UNROLL		/* a compiler of tests, which has no verifier behind it */
#endif

/* The map `name`, with entries of `union name_set`: TABLE_SET(). Attach sets how many. */
#define METER_TABLE(name)	ALIGNED_MAP(name, union name##_set, 1)

/*
 * The set of a key of these words. The factors are secret, so that nobody can make up keys that
 * fall into one set: of any two keys that differ, as many as chance has share one. Multiplied once,
 * addresses that follow each other lie apart by one distance; where that is nearly a fraction of
 * all sets, as with 1 in 400 factors for 40 addresses, they fall into a few. So it is done twice.
 */
static __always_inline __u32 table_set(__u64 a, __u64 b)
{
	__u64 hash = a * TOLD(seed[0]) + b * TOLD(seed[1]);

	hash ^= hash >> 32;
	return (hash * TOLD(seed[0])) >> TOLD(set_shift);
}

/* Adds to a word of a row. With PREEMPT_RT in one step, which takes a few ns. */
#define TABLE_ADD(word, count) do {					\
	if (TOLD(scratch) > 1)						\
		__sync_fetch_and_add(&(word), count);			\
	else								\
		(word) += (count);					\
} while (0)

/* The entry of a METER_TABLE() that this CPU has under this number. */
#define own_set(name, nr)	row_at(&name, own_nr(name, nr))

/* The marks of set `nr`, in the entry that table_marks() gives. */
#define table_marks(name, nr)						\
	own_set(name, (1u << (64 - TOLD(set_shift))) + (nr) / TABLE_MARKED)

/*
 * Which way of a set is to be given to a new key: that which has counted least of late, or else
 * least at all. A mark is the part of a count that is forgotten: an eighth of the rest each time a
 * key has no row here. So a sender of one packet goes before one of many, however many of them come
 * (forged addresses), and a row that was large long ago goes before one that is in use. One that is
 * free goes first. Without branches: the verifier would follow each.
 */
#define table_least(set, marks, nr) ({					\
	__u64 least = ~0ull >> 1;					\
	__u32 least_way = 0;						\
	__u32 *mark = (marks)->mark + (nr) % TABLE_MARKED * TABLE_WAYS;	\
									\
	barrier_var(mark);	/* 6.1 knows no bound of what is or-ed */ \
	UNROLL								\
	for (__u32 way_nr = 0; way_nr < TABLE_WAYS; way_nr++) {		\
		__u64 counted = *(__u64 *)&(set)->way[way_nr].row;	\
		__u32 lately = (__u32)counted - mark[way_nr];		\
		__u64 score, less;					\
									\
		lately -= (lately >> 3) + (((lately & 7) + 7) >> 3);	\
		mark[way_nr] = (__u32)counted - lately;			\
		score = (__u64)(lately >> 1) << 32 | (__u32)counted;	\
		less = -((score - least) >> 63);			\
		barrier_var(less);					\
		least ^= (least ^ score) & less;			\
		least_way ^= (least_way ^ way_nr) & (__u32)less;	\
	}								\
	barrier_var(least_way);	/* nor of what is xor-ed */		\
	least_way %= TABLE_WAYS;					\
	mark[least_way] = 0;						\
	least_way;							\
})

/*
 * Begins to make a row another key's; false: a task that was put aside is at it. Readers see these
 * steps in order: atomics with a result are full barriers.
 */
static __always_inline bool table_take(__u32 *turn)
{
	__u32 was = *(volatile __u32 *)turn;

	return !(was & 1) && __sync_val_compare_and_swap(turn, was, was + 1) == was;
}

static __always_inline void table_give(__u32 *turn)
{
	__sync_fetch_and_add(turn, 1);
}
#endif
