/* SPDX-License-Identifier: GPL-2.0 */
/* A second copy of a program on the same tracepoint counts the events that the first missed. */
#ifndef NICPROBE_AGAIN_BPF_H
#define NICPROBE_AGAIN_BPF_H

#include "lib/core/meter.bpf.h"
#include "lib/core/kernel.bpf.h"
#include "bpf/common/half.bpf.h"
#include "bpf/common/run_queue.bpf.h"

/*
 * The kernel does not enter a program that already runs on this CPU: an event in a softirq that
 * interrupts it in a task is not counted (recursion_misses). A copy on the same tracepoint runs at
 * another time, so one of the two is entered. To avoid counting twice, the first marks the event
 * it counted: in one slot for tasks, one for softirqs, one for hard interrupts and NMIs. Events
 * at one level do not overlap.
 */
enum { LEVEL_TASK, LEVEL_SOFTIRQ, LEVEL_INTERRUPT, NR_LEVELS };

struct counted {
	__u64 what[NR_LEVELS];
	__u64 depth;		/* address of this CPU's preempt count; 0: unknown */
};
MAP(PERCPU_ARRAY, counted, __u32, struct counted, 1);

#define SERVING_SOFTIRQ	0x00000100	/* bits of the preempt count (linux/preempt.h) */
#define HARDIRQ_OR_NMI	0x00ff0000

/* Except on x86 the preempt count is in the task. */
struct thread_info___count {
	__u32 preempt_count;
};
struct task_struct___count {
	struct thread_info___count thread_info;
};

static __noinline int depth_find(struct counted *c)
{
	__u64 rq;

	if (!c || !TOLD(preempt_count))
		return 0;
	rq = run_queue();
	if (rq)
		c->depth = rq + TOLD(preempt_count);
	return 0;
}

static __always_inline __u32 preempt_count(struct counted *c)
{
	const struct task_struct___count *task;
	const struct in_addr___any *n;	/* for its 32 bits */

	if (bpf_core_field_exists(struct thread_info___count, preempt_count)) {
		task = (void *)bpf_get_current_task();
		return PLAIN(task, thread_info.preempt_count);
	}
	if (!c->depth)
		depth_find(c);
	n = (void *)c->depth;
	return n ? PLAIN(n, s_addr) : 0;
}

/* Slot in which this CPU marks what the first copy counted; NULL: there is no such map. */
static __always_inline __u64 *counted_here(void)
{
	struct counted *c = row_at(&counted, 0);
	__u32 n;

	if (!c)
		return NULL;
	n = preempt_count(c);
	return n & HARDIRQ_OR_NMI ? &c->what[LEVEL_INTERRUPT] :
	       n & SERVING_SOFTIRQ ? &c->what[LEVEL_SOFTIRQ] : &c->what[LEVEL_TASK];
}

/*
 * From 7.0 on a task may be preempted or migrated between the two copies (before, __DO_TRACE()
 * disabled preemption). Marks are then kept by the address of the skb and not per CPU: no other skb
 * has that address until both copies have run. This is less exact: a mark that the second copy did
 * not remove stays, and hides the next event with that address that the first copy misses
 * (lib/read/losses.c has the upper bound).
 */
#define MARKS		8	/* a cache line */
#define MARK_BITS	7
struct marks {
	__u64 what[MARKS];
};
ALIGNED_MAP(counted_marks, struct marks, 1 << MARK_BITS);

/* A mark that the second copy did not see stays: if all slots are taken, one is overwritten. */
static __always_inline void mark(struct marks *c, __u64 what, __u32 instead)
{
	for (int i = 0; i < MARKS; i++)
		if (c->what[i] == what ||
		    (!c->what[i] && !__sync_val_compare_and_swap(&c->what[i], 0, what)))
			return;
	c->what[instead & (MARKS - 1)] = what;
}

/* Remove the mark of an event. False: it had none. */
static __always_inline bool unmark(struct marks *c, __u64 what)
{
	for (int i = 0; i < MARKS; i++)
		if (c->what[i] == what) {
			c->what[i] = 0;
			return true;
		}
	return false;
}

static __always_inline bool mine_by_mark(const void *what, bool again)
{
	__u32 hash = (lower_half(what) >> 6) * 2654435769u;
	struct marks *c = row_at(&counted_marks, hash >> (32 - MARK_BITS));

	if (!c)
		return !again;
	if (again)
		return !unmark(c, (__u64)what);
	mark(c, (__u64)what, hash);
	return true;
}

/* Should this copy count the event? */
static __always_inline bool mine(const void *what, bool again)
{
	__u64 *counted;
	bool first;

	if (is_set(preempts))
		return mine_by_mark(what, again);
	counted = counted_here();
	if (!counted)
		return !again;
	first = *counted != (__u64)what;
	*counted = again ? 0 : (__u64)what;
	return !again || first;
}

#endif
