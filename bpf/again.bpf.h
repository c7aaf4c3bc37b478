/* SPDX-License-Identifier: GPL-2.0 */
/* A second copy of a program, later on its tracepoint: it counts what the first could not. */
#ifndef NICPROBE_AGAIN_BPF_H
#define NICPROBE_AGAIN_BPF_H

#include "../lib/meter.bpf.h"
#include "half.bpf.h"

/*
 * A program is not entered while it runs on this CPU: an event in a softirq that interrupts it in a
 * task finds no counter (recursion_misses). Its copy runs after it, at another time, so that one of
 * both is entered; what has no other way to know marks what the first has counted: by the address
 * of the skb, which is nobody else's until both have run. Between the two its task may be
 * interrupted, and from 7.0 on put aside for another, or go on on another CPU (before,
 * __DO_TRACE() switched preemption off): so marks belong to no CPU.
 */
#define MARKS		8	/* a cache line */
#define MARK_BITS	7
struct counted {
	__u64 what[MARKS];
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1 << MARK_BITS);
	__type(key, __u32);
	__type(value, struct counted);
} counted SEC(".maps");

/* Marks stay of what the second copy did not see: where all places are taken, one goes. */
static __always_inline void mark(struct counted *c, __u64 what, __u32 instead)
{
	for (int i = 0; i < MARKS; i++)
		if (c->what[i] == what ||
		    (!c->what[i] && !__sync_val_compare_and_swap(&c->what[i], 0, what)))
			return;
	c->what[instead & (MARKS - 1)] = what;
}

/* Takes its mark away. False: it had none. */
static __always_inline bool unmark(struct counted *c, __u64 what)
{
	for (int i = 0; i < MARKS; i++)
		if (c->what[i] == what) {
			c->what[i] = 0;
			return true;
		}
	return false;
}

/* Is this event for this copy to count? */
static __always_inline bool mine(const void *what, bool again)
{
	__u32 hash = (lower_half(what) >> 6) * 2654435769u;
	struct counted *c = row_at(&counted, hash >> (32 - MARK_BITS));

	if (!c)
		return !again;
	if (again)
		return !unmark(c, (__u64)what);
	mark(c, (__u64)what, hash);
	return true;
}

#endif
