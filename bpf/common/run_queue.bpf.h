/* SPDX-License-Identifier: GPL-2.0 */
/* The run queue of this CPU, from which the kernel's other per-CPU variables are found. */
#ifndef NICPROBE_RUN_QUEUE_BPF_H
#define NICPROBE_RUN_QUEUE_BPF_H

#include "lib/core/kernel.bpf.h"

/*
 * Not every kernel gives programs the address of its per-CPU variables (only with
 * CONFIG_KALLSYMS_ALL). But the running task is in its CPU's run queue, which is such a variable,
 * and BTF has the distance to the others. Returns its address, or 0: not known.
 */
static __always_inline __u64 run_queue(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct rq *rq = NULL;

	if (bpf_core_field_exists(((struct cfs_rq *)0)->rq))
		rq = BPF_CORE_READ(task, se.cfs_rq, rq);
	return rq && BPF_CORE_READ(rq, cpu) == (int)bpf_get_smp_processor_id() ? (__u64)rq : 0;
}

#endif
