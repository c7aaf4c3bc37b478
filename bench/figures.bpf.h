/* SPDX-License-Identifier: GPL-2.0 */
/* The least that counts what the default meters tell of a received packet, and no more. */
#ifndef BENCH_FIGURES_BPF_H
#define BENCH_FIGURES_BPF_H

#include "bpf/common/run_queue.bpf.h"
#include "xdp/pktsize.h"
#include "counting.h"

const volatile __u32 with_figures;	/* 0: only packets and bytes are counted */
const volatile __u64 preempt_count;	/* bytes from the run queue of a CPU; 0: not known */

struct counting_figures figures[NR_FIGURES][COUNTING_CPUS][COUNTING_QUEUES];

static __always_inline struct counting_figures *figures_add(enum figures_at at, __u32 queue,
							     __u32 len)
{
	struct counting_figures *row = &figures[at][bpf_get_smp_processor_id() % COUNTING_CPUS]
					       [queue % COUNTING_QUEUES];
#define B(slot, bound) len <= bound ? slot :
	row->size[PKTSIZE_BOUNDS(B) PKTSIZE_SLOTS - 1]++;
#undef B
	return row;
}

static __always_inline void frame_figures(const struct xdp_md *frame)
{
	const __u8 *data = (void *)(long)frame->data, *end = (void *)(long)frame->data_end;
	struct counting_figures *row;

	row = figures_add(FIGURES_RX_NIC, frame->rx_queue_index, end - data);
	if (data + 16 > end)
		row->no_ip++;
	else if (data[12] == 0x08 && data[13] == 0x00)
		row->ecn[data[15] & 3]++;
	else if (data[12] == 0x86 && data[13] == 0xdd)
		row->ecn[data[15] >> 4 & 3]++;
	else
		row->no_ip++;
}

static __always_inline void buffer_figures(const struct __sk_buff *skb)
{
	struct counting_figures *row = figures_add(FIGURES_RX_STACK, skb->queue_mapping, skb->len);
	__u32 segs = skb->gso_segs;

	row->segs[segs < FIGURES_SEGS ? segs : FIGURES_SEGS - 1]++;
}

/*
 * Where the packet is kept that the first program at kfree_skb has counted: a softirq may interrupt
 * a task between the two, and an interrupt both (the bits are those of linux/preempt.h).
 */
static __always_inline __u64 *counted_here(struct counting_drops *all)
{
	const struct in_addr___any *count;
	__u32 n;

	if (!with_figures || !preempt_count || !CAN_CAST)
		return &all->counted[0];
	if (!all->preempt_count) {
		__u64 rq = run_queue();

		all->preempt_count = rq ? rq + preempt_count : 0;
		return &all->counted[0];
	}
	count = (void *)all->preempt_count;
	n = CAST(count)->s_addr;
	return &all->counted[n & 0xff0000 ? 2 : n & 0x100 ? 1 : 0];
}

/* The drop's length with its link header; to its reason, its direction and queue are added. */
static __always_inline __u32 drop_figures(const struct sk_buff *skb, int ifindex, __u64 *reason)
{
	__u32 at = (__u64)skb->data - (__u64)skb->head, mac = skb->mac_header;

	*reason |= (__u64)(skb->skb_iif == ifindex) << 32 | (__u64)skb->queue_mapping << 40;
	return skb->len + (mac < at ? at - mac : 0);
}

/* Whether the drops of a row come in a spell: how many in this tick. */
static __always_inline void spell_figures(struct counting_row *row)
{
	__u64 tick = bpf_jiffies64();

	if (row->tick != tick)
		row->in_tick = 0;
	row->tick = tick;
	row->in_tick++;
}

#endif
