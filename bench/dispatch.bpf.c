/* SPDX-License-Identifier: GPL-2.0 */
/* Programs of one tracepoint that show what running a program costs: empty, counting, and stubs. */
#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/common/half.bpf.h"
#include "lib/core/kernel.bpf.h"

#define PLACES 256

/* The measured devices by a hash of their addresses, and the slot of each in `programs`. */
struct {
	__u64 dev[PLACES];
	__u8 slot[PLACES];
} table;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} programs SEC(".maps");

static __always_inline int counted(void)
{
	__u32 zero = 0;
	__u64 *n = bpf_map_lookup_elem(&events, &zero);

	if (n)
		(*n)++;
	return 0;
}

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(empty, const struct sk_buff *skb)
{
	return 0;
}

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(count, const struct sk_buff *skb)
{
	return counted();
}

/* The stub calls this if the device is in the table. */
SEC("tp_btf/netif_receive_skb")
int BPF_PROG(called, const struct sk_buff *skb)
{
	return counted();
}

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(stub, const struct sk_buff *skb)
{
	__u64 dev = (__u64)skb->dev;
	__u32 place = (lower_half(skb->dev) >> 6) % PLACES;

	if (table.dev[place] != dev)
		return 0;
	bpf_tail_call(ctx, &programs, table.slot[place]);
	return 0;
}

char _license[] SEC("license") = "GPL";
