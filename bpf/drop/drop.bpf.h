/* SPDX-License-Identifier: GPL-2.0 */
/* Counts every packet of this interface that is freed as dropped. */
#ifndef NICPROBE_DROP_BPF_H
#define NICPROBE_DROP_BPF_H

#include "bpf/common/again.bpf.h"
#include "bpf/common/skb.bpf.h"
#include "bpf/drop/drop.h"
#include <bpf/bpf_tracing.h>

#define UNSET	0xffff		/* a header offset that nobody has set */

METER_KEYED_MAP(drop, 4096);

/* Attach sets the entries: NR_DROP_COPIES for each CPU. */
ALIGNED_MAP(drop_near, struct drop_near, 1);

/* Attach resizes it only if stacks are requested. */
struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, DROP_STACK_DEPTH * 8);
} drop_stack SEC(".maps");

/* Names of this kernel's reasons, stored by attach: reading BTF would take longer than `show`. */
MAP(ARRAY, drop_reasons, __u32, struct drop_reason, DROP_REASONS);

#define REASON(name)	bpf_core_enum_value(enum skb_drop_reason, SKB_DROP_REASON_##name)
#define IS(reason, name) \
	(bpf_core_enum_value_exists(enum skb_drop_reason, SKB_DROP_REASON_##name) && \
	 (reason) == REASON(name))

static __always_inline __u32 netns_of_sock(const struct sock *sk)
{
	const struct net *net = PLAIN(sk, __sk_common.skc_net.net);

	return PLAIN(net, ns.inum);
}

static __always_inline const struct net_device *route_dev(const struct sk_buff *skb)
{
	const struct dst_entry *dst = (void *)(skb->_skb_refdst & ~1ul);

	return dst ? PLAIN(dst, dev) : NULL;
}

/*
 * Received, but without its device: TCP clears skb->dev, UDP overwrites it. skb_iif stays; take the
 * namespace from the socket or the route.
 */
static __always_inline int received_whose(const struct sk_buff *skb,
					  const __u64 *ctx)
{
	/* since 6.11 the tracepoint passes the socket; before, the verifier refuses to read it */
	const struct sock *rx_sk = is_set(drop_sock) ? (void *)ctx[3] : NULL;
	const struct net_device *dev;

	if (!rx_sk)
		rx_sk = ARGUMENT(skb)->sk;
	if (rx_sk)
		return netns_of_sock(rx_sk) == TOLD(netns) ? DROP_RX : -1;
	dev = route_dev(skb);
	if (dev)
		return plain_netns_of(dev) == TOLD(netns) ? DROP_RX : -1;
	return DROP_UNSURE;
}

/* Sent, without a device yet: use that of the route, else the one that its socket is bound to. */
static __always_inline int sent_whose(const struct sk_buff *skb)
{
	const struct net_device *dev = route_dev(skb);
	const struct sock *sk;

	if (dev)
		return PLAIN(dev, ifindex) == (int)TOLD(ifindex) &&
		       plain_netns_of(dev) == TOLD(netns) ? DROP_TX : -1;
	sk = ARGUMENT(skb)->sk;
	return sk && PLAIN(sk, __sk_common.skc_bound_dev_if) == (int)TOLD(ifindex) &&
	       netns_of_sock(sk) == TOLD(netns) ? DROP_TX : -1;
}

/* Is the frame complete, with skb->data at its start? From dev_queue_xmit() on, it is. */
static __always_inline bool framed(const struct sk_buff *skb)
{
	__u32 mac = skb->mac_header;

	return mac != UNSET &&
	       mac == (__u32)((__u64)skb->data - (__u64)skb->head);
}

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct qdisc_skb_cb {
	unsigned int pkt_len;
};
#pragma clang attribute pop

/*
 * Was a complete frame given to a device to send? __dev_queue_xmit() leaves its length on the wire
 * in the control block, of which segments get a copy; a driver may leave there instead why it was
 * freed (dev_kfree_skb_irq(): 1 or 2). Open vSwitch, which has received packets as complete frames,
 * keeps a pointer there, whose lower half is seldom so small.
 */
static __noinline bool was_queued(const struct sk_buff *skb)
{
	enum { TAGS = 256, LONGEST = 1 << 20 };		/* bytes, at most */
	const struct qdisc_skb_cb *cb = (void *)&skb->cb;
	__u32 len = BPF_CORE_READ(cb, pkt_len);

	return len == 1 || len == 2 || (len && len - skb->len + TAGS < LONGEST);
}

/* Does something lie before its link header? A tunnel's headers, as it is on its way out. */
static __always_inline bool wrapped(const struct sk_buff *skb)
{
	__u32 mac = skb->mac_header;

	return mac != UNSET && mac > (__u32)((__u64)skb->data - (__u64)skb->head);
}

/* For these reasons only packets are dropped that are being sent: of the next host, of a device. */
static __always_inline bool by_neighbour(__u32 reason)
{
	return IS(reason, NEIGH_FAILED) || IS(reason, NEIGH_QUEUEFULL) ||
	       IS(reason, NEIGH_CREATEFAIL) || IS(reason, NEIGH_DEAD);
}

static __always_inline bool by_device(__u32 reason)
{
	return IS(reason, QDISC_DROP) || IS(reason, TC_EGRESS) || IS(reason, FULL_RING);
}

/* Only received ones are, and they may be complete frames then: generic XDP and AF_PACKET. */
static __always_inline bool only_received(__u32 reason)
{
	return IS(reason, XDP) || IS(reason, PACKET_SOCK_ERROR);
}

/*
 * skb_iif is set when the stack receives a packet, and kept when it is forwarded, maybe to where it
 * came from. Without it: a packet from a driver has its link header set and pulled, or no header
 * set at all; a packet of this host has at least a network header. -1: it is a copy of a sent one,
 * for which a packet socket had no room (dev_queue_xmit_nit()).
 */
static __noinline int direction_find(const struct sk_buff *skb, __u32 reason)
{
	int iif = skb->skb_iif;

	if (BPF_CORE_READ_BITFIELD(skb, pkt_type) == OUTGOING)
		return -1;
	if (by_device(reason) || by_neighbour(reason) || wrapped(skb))
		return DROP_TX;
	if (only_received(reason))
		return DROP_RX;
	if (iif && (iif != (int)TOLD(ifindex) || (framed(skb) && was_queued(skb))))
		return DROP_TX;
	if (iif)
		return DROP_RX;
	if (skb->mac_header == UNSET)
		return skb->network_header ? DROP_TX : DROP_RX;
	return framed(skb) ? DROP_TX : DROP_RX;
}

/*
 * Of nearly all it is known at once: they came from here, and their link header is behind. The rest
 * is a function of its own: inlined twice, it took each drop 35 ns more (live frames, tap).
 */
static __always_inline int direction_of(const struct sk_buff *skb, __u32 reason)
{
	__u32 at = (__u64)skb->data - (__u64)skb->head;

	if (skb->skb_iif == (int)TOLD(ifindex) && skb->mac_header < at && !by_neighbour(reason))
		return DROP_RX;
	return direction_find(skb, reason);
}

static __always_inline __u32 queue_of(const struct sk_buff *skb,
				      const struct net_device *dev, int direction, __u32 reason)
{
	__u32 queue;

	if (direction == DROP_TX)	/* the queue is chosen after tc egress */
		queue = framed(skb) && !IS(reason, TC_EGRESS) ?
			skb->queue_mapping : ~0u;
	else if (dev)
		queue = skb_rx_queue(skb, dev);
	else if (TOLD(rx_queues) == 1)
		queue = 0;
	else if (TOLD(rx_queue) == RX_QUEUE_RAW)
		queue = skb->queue_mapping;
	else
		queue = skb->queue_mapping - 1;	/* 0: not recorded, so unknown */
	return queue < TOLD(rows) - 1 ? queue : DROP_QUEUE_UNKNOWN;
}

static __always_inline void measure(const struct sk_buff *skb, int direction,
				    struct packet *p)
{
	const unsigned char *head = skb->head, *data = skb->data;
	__u32 mac = skb->mac_header;
	__u32 at = (__u64)data - (__u64)head;

	p->len = skb->len;
	p->segs = 1;
	p->point = direction == DROP_TX ? TX_NIC : RX_STACK;
	if (direction != DROP_TX && mac != UNSET && mac < at)
		p->len += at - mac;	/* headers pulled since */
	skb_segments(skb, p, direction == DROP_TX, head + skb->network_header);
}

static __always_inline void remember(struct drop *row, __u32 packets)
{
	static const __u32 least[] = DROP_SPELL_LEAST;
	__u32 now = row->second, tick = bpf_jiffies64();

	if (tick != row->tick || !now) {	/* reading jiffies is cheaper than the clock */
		now = bpf_ktime_get_ns() / 1000000000;
		if (row->second != now)
			row->in_second = 0;
		row->second = now;
		row->tick = tick;
	}
	row->in_second += packets;
#pragma unroll
	for (int i = 0; i < DROP_SPELLS; i++)
		if (row->in_second >= least[i])
			row->spell[i] = now;
}

/* The row in the array; NULL: another key has it. */
static __always_inline struct drop *near_row(const struct drop_key *key, enum drop_copy copy)
{
	struct drop_near *here = row_at(&drop_near,
					bpf_get_smp_processor_id() * NR_DROP_COPIES + copy);
	const __u64 *words = (void *)key;
	struct drop_near_row *r;
	__u64 *has;

	if (!here)
		return NULL;
	r = &here->at[(((__u32)words[0] ^ (__u32)words[1] ^ (__u32)words[2]) * 2654435769u) >> 29];
	has = (void *)&r->key;
	if (LIKELY(!((has[0] ^ words[0]) | (has[1] ^ words[1]) | (has[2] ^ words[2]))))
		return &r->row;
	if (has[0])
		return NULL;
	has[0] = words[0];
	has[1] = words[1];
	has[2] = words[2];
	r->check = near_check(words);
	return &r->row;
}

static __always_inline void drop_count(const struct drop_key *key, __u32 packets, __u32 bytes,
				       enum drop_copy copy)
{
	struct drop *row = near_row(key, copy), none = {};

	if (row) {
		row->packets += packets;
		row->bytes += bytes;
		if (packets > 1)
			row->more += packets - 1;
		remember(row, packets);
		return;
	}
	row = lookup_or_init(&drop, key, &none);
	if (!row) {
		lost_add(METER_drop, packets);
		return;
	}
	/* the other copy of the program may be here at the same time */
	__sync_fetch_and_add(&row->packets, packets);
	__sync_fetch_and_add(&row->bytes, bytes);
	if (packets > 1)
		__sync_fetch_and_add(&row->more, packets - 1);
	remember(row, packets);
}

/* Is its destination address that of this device? */
static __always_inline bool to_address(const struct sk_buff *skb,
				       const struct net_device *dev)
{
	__u32 mac = skb->mac_header;
	struct { __u32 first; __u16 rest; } __attribute__((packed)) to = {}, ours = {};

	if (!dev || mac == UNSET)
		return false;
	bpf_probe_read_kernel(&to, 6, skb->head + mac);
	bpf_probe_read_kernel(&ours, 6, dev->dev_addr);
	return to.first == ours.first && to.rest == ours.rest;
}

#define TCP	6
#define SYN	0x02		/* of the flags in byte 13; alone it opens a connection */
#define FLAGS	0x17		/* ACK, RST, SYN, FIN */

/* Does it open a TCP connection? Only for packets without a socket: their headers are there. */
static __always_inline bool opens_connection(const struct sk_buff *skb)
{
	const unsigned char *head = skb->head;
	__u32 at = skb->network_header, tcp = skb->transport_header;
	__u8 version = 0, protocol = 0, flags = 0;

	bpf_probe_read_kernel(&version, 1, head + at);
	bpf_probe_read_kernel(&protocol, 1, head + at + (version >> 4 == 4 ? 9 : 6));
	bpf_probe_read_kernel(&flags, 1, head + tcp + 13);
	return protocol == TCP && tcp > at && (flags & FLAGS) == SYN;
}

/*
 * If a VLAN has no device, the stack removes the tag of its packets and marks them OTHERHOST
 * (__netif_receive_skb_core()). So a packet to our address may be marked as not for us.
 */
static __always_inline int whom(const struct sk_buff *skb, const struct net_device *dev,
				__u32 reason)
{
	int type = BPF_CORE_READ_BITFIELD(skb, pkt_type);

	if (type == OTHERHOST)
		return to_address(skb, dev) ? DROP_FOR_VLAN : DROP_FOR_ANY;
	if (IS(reason, NO_SOCKET))
		return opens_connection(skb) ? DROP_FOR_PORT : DROP_FOR_ANY;
	if (!IS(reason, NOT_SPECIFIED))
		return DROP_FOR_ANY;
	return type == MULTICAST ? DROP_FOR_GROUP : type == BROADCAST ? DROP_FOR_ALL : DROP_FOR_ANY;
}

/*
 * `ctx`: the packet, the location, the reason, and since 6.11 the socket. Returns the direction of
 * the packet; -1: it is not ours, or not dropped.
 */
static __always_inline int drop_whose(const __u64 *ctx, const struct sk_buff *skb,
				      const struct net_device *dev)
{
	int direction, index = dev ? dev->ifindex : 0;
	__u32 reason;

	if (index && dev_is_other(dev))
		return -1;
	barrier();
	reason = ctx[2];
	if (index) {
		if (!dev_is_ours(dev))
			return -1;
		direction = direction_of(skb, reason);
	} else {	/* skb->dev is no device */
		int iif = skb->skb_iif;

		if (iif && iif != (int)TOLD(ifindex))
			return -1;
		direction = iif ? received_whose(skb, ctx) : sent_whose(skb);
		if (direction < 0 || !has_begun())
			return -1;
	}
	if (bpf_core_enum_value_exists(enum skb_drop_reason, SKB_CONSUMED) &&
	    reason == bpf_core_enum_value(enum skb_drop_reason, SKB_CONSUMED))
		return -1;
	/* The driver frees a packet that it has sent: no drop. */
	if (is_set(kfree_completes) && direction == DROP_TX && IS(reason, NOT_SPECIFIED) &&
	    framed(skb))
		return -1;
	return direction;
}

static __always_inline void drop_add(const __u64 *ctx, const struct sk_buff *skb,
				     const struct net_device *dev, int direction,
				     enum drop_copy copy)
{
	__u32 reason = ctx[2];
	struct drop_key key;
	struct packet p;

	if (dev && !dev->ifindex)	/* it is no device */
		dev = NULL;
	key = (struct drop_key){
		.location = ctx[1], .reason = reason, .direction = direction,
		.whom = direction == DROP_RX ? whom(skb, dev, reason) : DROP_FOR_ANY,
		.queue = queue_of(skb, dev, direction, reason),
		.stack = is_set(stacks) ? bpf_get_stackid((void *)ctx, &drop_stack, 0) :
					 DROP_NO_STACK,
	};
	p = (struct packet){};
	measure(skb, direction, &p);
	drop_count(&key, p.segs, p.len, copy);
}

#undef REASON
#undef IS

#endif
