/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The least that counts: a packet of one device and its bytes, in a row of its queue and CPU; a
 * drop in one of its reason and place, once, although the kernel does not enter a program that
 * already runs: a second one at the event counts what the first has missed. If asked, also what the
 * default meters tell of a received packet (figures.bpf.h).
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "lib/core/kernel.bpf.h"
#include "figures.bpf.h"

const volatile __u64 device, net;	/* addresses in the kernel: of it, and of its namespace */
const volatile int ifindex;

struct counting_row rows[NR_COUNTED][COUNTING_CPUS][COUNTING_QUEUES];

static __always_inline void add(enum counted at, __u32 queue, __u32 len)
{
	struct counting_row *row = &rows[at][bpf_get_smp_processor_id() % COUNTING_CPUS]
					[queue % COUNTING_QUEUES];

	row->packets++;
	row->bytes += len;
}

/* An address is used again when a device has gone, and a device may move to another namespace. */
static __always_inline int is_it(const struct net_device *dev)
{
	return (__u64)dev == device && dev->ifindex == ifindex && (__u64)dev->nd_net.net == net;
}

static __always_inline int count(enum counted at, const struct sk_buff *skb,
				 const struct net_device *dev)
{
	if (is_it(dev))
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

SEC("tp_btf/netif_receive_skb_list_entry")
int BPF_PROG(netif_receive_skb_list_entry, const struct sk_buff *skb)
{
	return count(COUNTED_PAST_GRO, skb, skb->dev);
}

struct counting_drops drops[COUNTING_CPUS];

static __always_inline void drop_add(struct counting_drops *all, const struct sk_buff *skb,
				     __u64 place, __u64 reason)
{
	__u32 nr, len = with_figures ? drop_figures(skb, ifindex, &reason) : skb->len;
	struct counting_row *row;

	nr = ((__u32)place ^ (__u32)reason) * 2654435769u >> 29;
	row = &all->at[nr].row;
	if (all->at[nr].place != place || all->at[nr].reason != reason) {
		if (all->at[nr].place) {
			row = &all->others;
		} else {
			all->at[nr].place = place;
			all->at[nr].reason = reason;
		}
	}
	row->packets++;
	row->bytes += len;
	if (with_figures)
		spell_figures(row);
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(kfree_skb, const struct sk_buff *skb, const void *place, unsigned int reason)
{
	struct counting_drops *all = &drops[bpf_get_smp_processor_id() % COUNTING_CPUS];

	if (!is_it(skb->dev))
		return 0;
	*counted_here(all) = (__u64)skb;
	drop_add(all, skb, (__u64)place, reason);
	return 0;
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(kfree_skb_again, const struct sk_buff *skb, const void *place, unsigned int reason)
{
	struct counting_drops *all = &drops[bpf_get_smp_processor_id() % COUNTING_CPUS];
	__u64 *counted;

	if (!is_it(skb->dev))
		return 0;
	counted = counted_here(all);
	if (*counted != (__u64)skb)
		drop_add(all, skb, (__u64)place, reason);
	*counted = 0;
	return 0;
}

SEC("xdp")
int of_frame(struct xdp_md *frame)
{
	add(COUNTED_RX_NIC, frame->rx_queue_index, frame->data_end - frame->data);
	if (with_figures)
		frame_figures(frame);
	return XDP_PASS;
}

SEC("tc")
int tcx(struct __sk_buff *skb)
{
	add(COUNTED_RX_STACK, skb->queue_mapping, skb->len);
	if (with_figures)
		buffer_figures(skb);
	return -1;	/* TCX_NEXT */
}

char _license[] SEC("license") = "GPL";
