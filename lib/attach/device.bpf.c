/* SPDX-License-Identifier: GPL-2.0 */
/* Finds the struct net_device of an ifindex in the network namespace of the current task. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "lib/attach/device.bpf.h"

#define HASHED	256		/* NETDEV_HASHENTRIES; if it changes, some are not found */
#define MOST	1024		/* devices searched per hash value */

/*
 * It is told where the members are: to find out by itself libbpf would read the types of the
 * kernel once more, which takes longer than all else here.
 */
volatile struct device_wanted wanted;

static __u64 word_at(__u64 address)
{
	__u64 word = 0;

	bpf_probe_read_kernel(&word, sizeof(word), (void *)address);
	return word;
}

/* Looks at one device of the list. 1: the search is over. */
static long look(__u32 i, __u64 *at)
{
	__u64 dev = *at - wanted.at[DEVICE_INDEXED];

	if (!*at)
		return 1;
	if ((__u32)word_at(dev + wanted.at[DEVICE_INDEX]) == (__u32)wanted.ifindex) {
		wanted.dev = dev;
		return 1;
	}
	*at = word_at(*at);		/* hlist_node.next */
	return 0;
}

SEC("syscall")
int device(void *ctx)
{
	__u64 task = bpf_get_current_task();
	__u64 net = word_at(word_at(task + wanted.at[TASK_NSPROXY]) + wanted.at[NSPROXY_NET]);
	__u64 at = word_at(net + wanted.at[NET_INDEXED]) +
		   (wanted.ifindex & (HASHED - 1)) * sizeof(__u64);

	at = word_at(at);		/* hlist_head.first */
	bpf_loop(MOST, look, &at, 0);
	if (!wanted.dev)
		return 0;
	wanted.net = net;
	at = wanted.dev + wanted.at[DEVICE_NAPIS];
	wanted.napis = word_at(at) != at;	/* list_head.next of an empty list is itself */
	return 0;
}

char _license[] SEC("license") = "GPL";
