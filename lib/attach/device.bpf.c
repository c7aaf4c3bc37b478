/* SPDX-License-Identifier: GPL-2.0 */
/* Finds the struct net_device of an ifindex in the network namespace of the current task. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "lib/attach/device.bpf.h"
#include "lib/core/kernel.bpf.h"

#define HASHED	256		/* NETDEV_HASHENTRIES; if it changes, some are not found */
#define MOST	1024		/* devices searched per hash value */

struct device_wanted wanted;

SEC("syscall")
int device(void *ctx)
{
	const struct task_struct *task = (void *)bpf_get_current_task();
	const struct net *net = BPF_CORE_READ(task, nsproxy, net_ns);
	const struct hlist_head *head = BPF_CORE_READ(net, dev_index_head);
	const struct hlist_node *at;

	head += wanted.ifindex & (HASHED - 1);
	at = BPF_CORE_READ(head, first);
	for (int i = 0; at && i < MOST; i++) {
		const struct net_device *dev =
			(void *)at - bpf_core_field_offset(struct net_device, index_hlist);

		if (BPF_CORE_READ(dev, ifindex) == (int)wanted.ifindex) {
			wanted.dev = (__u64)dev;
			wanted.net = (__u64)net;
			break;
		}
		at = BPF_CORE_READ(at, next);
	}
	return 0;
}

char _license[] SEC("license") = "GPL";
