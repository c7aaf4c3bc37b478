/* SPDX-License-Identifier: GPL-2.0 */
/* Scratch memory by which a program passes data on a packet to a later one on the same CPU. */
#ifndef NICPROBE_SCRATCH_BPF_H
#define NICPROBE_SCRATCH_BPF_H

#include "lib/core/meter.bpf.h"

/*
 * Softirqs are off between the two programs, so no other packet comes in between. But with
 * PREEMPT_RT both run in tasks, and another task may preempt them there, on the same CPU (since
 * 6.18, without PREEMPT_RT_NEEDS_BH_LOCK). So each task has its own slot, by pid; attach sets the
 * number of slots and the size of the map.
 */
#define SCRATCH_MAP(name, what)	MAP(PERCPU_ARRAY, name##_scratch, __u32, what, 1)

static __always_inline __u32 scratch_nr(void)
{
	__u32 places = TOLD(scratch);

	return places > 1 ? (__u32)bpf_get_current_pid_tgid() & (places - 1) : 0;
}

#define scratch_here(name)	row_at(&name##_scratch, scratch_nr())

#endif
