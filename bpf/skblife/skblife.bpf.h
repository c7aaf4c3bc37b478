/* SPDX-License-Identifier: GPL-2.0 */
/* How long a packet is in this host, and where: follows a sample of packets by address. */
#ifndef NICPROBE_SKBLIFE_BPF_H
#define NICPROBE_SKBLIFE_BPF_H

#include "bpf/common/program.bpf.h"
#include "bpf/common/sampled.bpf.h"
#include "bpf/events/returned.bpf.h"
#include "bpf/skblife/skblife_socket.bpf.h"

#define GRO_MERGED_FREE	1	/* enum gro_result: up to here it was merged into another */

static __always_inline bool life_sent(const struct life *life)
{
	return life->first == LIFE_QDISC;
}

/*
 * A driver delivers an skb that we follow. If it was sent, it went through a loop (veth, loopback)
 * and is done. If it was received, it continues through a bridge, or is a new packet at the same
 * address. Returns whether it continues.
 */
static __always_inline bool met_again(__u32 place, const struct sk_buff *skb, bool ours)
{
	struct life *life = life_at(place);

	if (!life)
		return false;
	if (!life_sent(life) && !ours && life->stage != LIFE_GRO && same(life, skb))
		return true;
	if (life->stage == LIFE_DRIVER)
		life_end(place, LIFE_SENT);
	else
		life_end(place, NR_LIFE_ENDS + LIFE_UNSEEN);
	return false;
}

/* What the stack had before begins no life; it continues its own, if it has one. */
static __always_inline int life_received(const struct sk_buff *skb, const struct net_device *dev,
					 enum delivery how)
{
	struct life_busy *busy;
	__u32 place;
	bool ours;

	if (dev_is_other(dev) && !life_watched)
		return 0;
	if (!dev)
		return 0;
	ours = dev_is_ours(dev) && !had_before(skb, how);
	place = life_find(skb);
	if (place && met_again(place, skb, ours))
		return 0;
	if (!ours || !sampled(METER_skblife))
		return 0;
	if (!life_begin((__u64)skb, life_home(skb), (__u64)skb->head, LIFE_GRO,
			skb_rx_queue(skb, dev)) || how == PAST_GRO)
		return 0;
	busy = busy_now();
	if (busy)
		busy_set(&busy->merging, (__u64)skb);
	return 0;
}

static __always_inline int gro_done(int result)
{
	struct life_busy *busy;
	__u64 skb;
	__u32 place;

	if (!life_watched)
		return 0;
	busy = busy_now();
	if (!busy || !busy->merging)
		return 0;
	skb = busy->merging;
	busy_clear(&busy->merging);
	if (result > GRO_MERGED_FREE)
		return 0;
	place = life_find((void *)skb);
	return place ? life_end(place, NR_LIFE_ENDS + LIFE_MERGED) : 0;
}

static __always_inline int in_stack(const struct sk_buff *skb, const struct net_device *dev)
{
	struct life *life;
	__u32 place;

	if (!dev_may_be_ours(dev))
		return 0;
	life = life_of_skb(skb, &place);
	if (life && life->stage == LIFE_GRO)
		life_step(place, LIFE_GRO);
	return 0;
}

/* A program reads the packet. A TAP also reads sent packets: those end when it frees them. */
static __always_inline int copied(const struct sk_buff *skb)
{
	struct life *life;
	__u32 place;

	if (!life_watched)
		return 0;
	life = life_of_skb(skb, &place);
	if (!life || life_sent(life))
		return 0;
	return life_end(place, same(life, skb) ? LIFE_READ : NR_LIFE_ENDS + LIFE_UNSEEN);
}

/* Freed before the driver's xmit returned: it was not sent. */
static __always_inline bool in_xmit(const struct sk_buff *skb)
{
	struct life_busy *busy = busy_now();

	if (!busy || busy->xmit != (__u64)skb)
		return false;
	busy_clear(&busy->xmit);
	return true;
}

/* Software GSO frees the buffer that it split. For any other packet, we missed the xmit. */
static __always_inline __u32 freed_in_qdisc(const struct sk_buff *skb, bool used)
{
	if (!used)
		return LIFE_DROPPED;
	return NR_LIFE_ENDS + (skb_is_gso(skb) ? LIFE_SEGMENTED : LIFE_UNSEEN);
}

/*
 * In the queue of a socket UDP keeps numbers in place of the device (udp_set_dev_scratch(), 6.1);
 * an address of the kernel would have the topmost bit set. A program that waits on another CPU may
 * read a datagram before the socket tells that it is there.
 */
static __always_inline bool was_in_udp(const struct sk_buff *skb)
{
	return (__s64)PLAIN(skb, dev) > 0;
}

static __always_inline int life_freed(const struct sk_buff *skb, bool used)
{
	__u32 place, how = LIFE_DROPPED;
	struct life *life;

	if (!life_watched)
		return 0;
	life = life_of_skb(skb, &place);
	if (!life)
		return 0;
	if (life->stage == LIFE_DRIVER)
		how = in_xmit(skb) ? LIFE_DROPPED : LIFE_SENT;
	else if (life->stage == LIFE_QDISC)
		how = freed_in_qdisc(skb, used);
	else if (life->stage != LIFE_GRO && !same(life, skb))
		how = NR_LIFE_ENDS + LIFE_UNSEEN;
	else if (used)
		how = life->stage == LIFE_SOCKET || was_in_udp(skb) ? LIFE_READ : LIFE_USED;
	return life_end(place, how);
}

static __always_inline int life_queued(const struct sk_buff *skb, const struct net_device *dev)
{
	struct life *life;
	__u32 place;

	if (dev_is_other(dev) && !life_watched)
		return 0;
	life = life_of_skb(skb, &place);
	if (life && life->stage == LIFE_DRIVER)
		life_end(place, LIFE_SENT);	/* a VLAN, a bond: to the device below */
	else if (life && !life_sent(life) && same(life, skb) && to_ifb(dev))
		return 0;
	else if (life)
		life_end(place, life_sent(life) || skb->skb_iif ? LIFE_FORWARDED :
			 NR_LIFE_ENDS + LIFE_UNSEEN);
	if (!dev_is_ours(dev) || !sampled(METER_skblife))
		return 0;
	life_begin((__u64)skb, life_home(skb), 0, LIFE_QDISC, skb->queue_mapping);
	return 0;
}

static __always_inline int life_started(const struct sk_buff *skb)
{
	struct life_busy *busy;
	struct life *life;
	__u32 place;

	life = life_of_skb(skb, &place);
	if (!life || life->stage != LIFE_QDISC)
		return 0;
	busy = busy_now();
	if (busy)
		busy_set(&busy->xmit, (__u64)skb);
	life_step(place, LIFE_QDISC);
	return 0;
}

/* skb may be freed by now: only its address may be used. */
static __always_inline int life_returned(const struct sk_buff *skb, int rc)
{
	struct life_busy *busy = busy_now();
	struct life *life;
	__u32 place, queue;

	if (!busy || busy->xmit != (__u64)skb)
		return 0;
	busy_clear(&busy->xmit);
	if (rc < XMIT_TAKEN)
		return 0;
	/* It is requeued: back to the stage "qdisc". */
	life = life_of_skb(skb, &place);
	if (!life)
		return 0;
	queue = life->queue;
	if (__sync_val_compare_and_swap(&life->stage, LIFE_DRIVER, LIFE_QDISC) != LIFE_DRIVER)
		return 0;
	life_went(LIFE_QDISC, queue, LIFE_DRIVER);
	return life_came(LIFE_QDISC, queue, LIFE_QDISC);
}

ON(life_copy, "tp_btf/skb_copy_datagram_iovec", copied(skb), SKB)

/* "?": optional, since 6.3. Without any of them the stage "stack" lasts until the read. */
ON(life_ready, "?tp_btf/sk_data_ready", ready(sk), const struct sock *sk)
ON(life_ready__fentry, "?fentry/sock_def_readable", ready(sk), const struct sock *sk)
ON(life_tcp, "?tp_btf/tcp_probe", in_tcp(sk, skb), const struct sock *sk, SKB)

/* Since 6.3; not needed before: skblife_socket.bpf.h. */
ON(life_read, "?tp_btf/sock_recv_length", udp_read((__u64)sk), const struct sock *sk)

#endif
