/* SPDX-License-Identifier: GPL-2.0 */
/* Rows of the host's meters: their maps, how to add to them, and what is of this host. */
#ifndef NICPROBE_COUNTS_BPF_H
#define NICPROBE_COUNTS_BPF_H

#include "bpf/host/remote.h"
#include "lib/core/meter.bpf.h"
#include "lib/core/kernel.bpf.h"

static __always_inline bool net_is_ours(const struct net *net)
{
	return net && PLAIN(net, ns.inum) == TOLD(netns) && has_begun();
}

/* Of the current task. */
static __always_inline bool task_is_ours(void)
{
	const struct task_struct *task = (void *)bpf_get_current_task();
	const struct nsproxy *proxy = PLAIN(task, nsproxy);

	return proxy && net_is_ours(PLAIN(proxy, net_ns));
}

#define COUNT(row, member, n) __sync_fetch_and_add(&(row)->member, n)

/* Not per CPU: these events are few, and a connection's come on several CPUs. */
#define SPAN_ADD(row, hist, span) do {					\
	COUNT(row, hist.sum, span);					\
	COUNT(row, hist.slot[loglin_slot(span)], 1);			\
} while (0)

/* The row of a key; where there is no room, that of `others`. NULL: neither is there. */
#define REMOTE_ROW(map, key, others, none, meter) ({			\
	void *remote_row = lookup_or_init(map, key, none);		\
	if (!remote_row)						\
		remote_row = bpf_map_lookup_elem(map, others);		\
	if (!remote_row)						\
		lost_add(meter, 1);					\
	remote_row;							\
})

/* A map of the host's meters: a key takes memory once it is there. */
#define REMOTE_MAP_BY(name, key_type)					\
	struct {							\
		__uint(type, BPF_MAP_TYPE_HASH);			\
		__uint(map_flags, BPF_F_NO_PREALLOC);			\
		__uint(max_entries, REMOTES);				\
		__type(key, key_type);					\
		__type(value, struct name);				\
	} name SEC(".maps")
#define REMOTE_MAP(name)	REMOTE_MAP_BY(name, struct name##_key)

#endif
