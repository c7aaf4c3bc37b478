/* SPDX-License-Identifier: GPL-2.0 */
/* The functions that led to an event, of the kernel and of the process. */
#ifndef NICPROBE_PROBES_STACKS_BPF_H
#define NICPROBE_PROBES_STACKS_BPF_H

#include "probes/sockets.bpf.h"

#define EFAULT	14

/* By a hash of the stack: two that have the same are not kept both. */
struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, STACKS_MOST);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, STACK_DEPTH * sizeof(__u64));
} stacks SEC(".maps");

/* Only in programs whose context tells where they were called. */
static __always_inline void stacks_fill(void *ctx, struct probe_event *e)
{
	__s64 id;

	if (NEED(KSTACK)) {
		id = bpf_get_stackid(ctx, &stacks, 0);
		e->kstack = id;
		if (id >= 0)
			e->have |= HAVE(KSTACK);
		else if (id != -EFAULT)		/* a system call has none up to 6.1 */
			e->stack_lost = 1;
	}
	if (NEED(USTACK) && task_does_it()) {
		id = bpf_get_stackid(ctx, &stacks, BPF_F_USER_STACK);
		e->ustack = (bpf_get_current_pid_tgid() & ~0xffffffffull) | (__u32)id;
		if (id >= 0)
			e->have |= HAVE(USTACK);
		else if (id != -EFAULT)		/* a thread of the kernel has none */
			e->stack_lost = 1;
	}
}

#endif
