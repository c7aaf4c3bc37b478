/* SPDX-License-Identifier: GPL-2.0 */
/* What a program leaves for a later one that is about the same packet, on the same CPU. */
#ifndef NICPROBE_SCRATCH_BPF_H
#define NICPROBE_SCRATCH_BPF_H

#include "lib/core/meter.bpf.h"

/*
 * Softirqs are off between the two, so nothing comes in between that does the same. But with
 * PREEMPT_RT all of it is done by tasks, and one may be put aside for another there (since 6.18,
 * without PREEMPT_RT_NEEDS_BH_LOCK; it keeps to its CPU): so each has a place of its own, by its
 * number; attach tells how many places there are, and makes the map as large.
 */
#define SCRATCH_MAP(name, what)				\
	struct {					\
		__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);\
		__uint(max_entries, 1);			\
		__type(key, __u32);			\
		__type(value, what);			\
	} name##_scratch SEC(".maps")

static __always_inline __u32 scratch_nr(void)
{
	__u32 places = config.scratch;	/* read once: it is volatile */

	return places > 1 ? (__u32)bpf_get_current_pid_tgid() & (places - 1) : 0;
}

#define scratch_here(name)	row_at(&name##_scratch, scratch_nr())

#endif
