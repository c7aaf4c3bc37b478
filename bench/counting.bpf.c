/* SPDX-License-Identifier: GPL-2.0 */
/* The least that counts: a packet of one device and its bytes, in a row of its queue and CPU. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "lib/core/kernel.bpf.h"
#include "counting.h"

const volatile __u64 device;	/* its address in the kernel */

struct counting_row rows[NR_COUNTED][COUNTING_CPUS][COUNTING_QUEUES];

static __always_inline void add(enum counted at, __u32 queue, __u32 len)
{
	struct counting_row *row = &rows[at][bpf_get_smp_processor_id() % COUNTING_CPUS]
					[queue % COUNTING_QUEUES];

	row->packets++;
	row->bytes += len;
}

static __always_inline int count(enum counted at, const struct sk_buff *skb,
				 const struct net_device *dev)
{
	if ((__u64)dev == device)
		add(at, skb->queue_mapping, skb->len);
	return 0;
}

SEC("tp_btf/net_dev_queue")
int BPF_PROG(net_dev_queue, const struct sk_buff *skb)
{
	return count(COUNTED_TX_STACK, skb, skb->dev);
}

SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(net_dev_start_xmit, const struct sk_buff *skb, const struct net_device *dev)
{
	return count(COUNTED_TX_NIC, skb, dev);
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(kfree_skb, const struct sk_buff *skb)
{
	return count(COUNTED_DROPS, skb, skb->dev);
}

SEC("xdp")
int of_frame(struct xdp_md *frame)
{
	add(COUNTED_RX_NIC, frame->rx_queue_index, frame->data_end - frame->data);
	return XDP_PASS;
}

SEC("tc")
int tcx(struct __sk_buff *skb)
{
	add(COUNTED_RX_STACK, skb->queue_mapping, skb->len);
	return -1;	/* TCX_NEXT */
}

char _license[] SEC("license") = "GPL";
