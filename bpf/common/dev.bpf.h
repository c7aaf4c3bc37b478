/* SPDX-License-Identifier: GPL-2.0 */
/* Whose an event is: the interface that was asked for, and which of its NAPIs. */
#ifndef NICPROBE_DEV_BPF_H
#define NICPROBE_DEV_BPF_H

#include "lib/core/meter.bpf.h"
#include "lib/core/kernel.bpf.h"

/* A constant that the loader writes into the program; where it does not, `mark`. */
#ifndef CONSTANT
#define CONSTANT(word, mark)	asm("%0 = %1 ll" : "=r"(word) : "i"(mark))
#endif

/*
 * Surely not the interface that was asked for? Nearly all events end here: so it is the first
 * thing to be asked, in the program itself (what it calls, the loader does not see).
 */
static __always_inline bool dev_is_other(const void *dev)
{
	__u64 ours;

	CONSTANT(ours, DEV_UNKNOWN);
	if ((__u32)ours == (__u32)DEV_UNKNOWN)
		return false;
	barrier_var(ours);
	return (__u64)dev != ours;
}

/* The same of the device of a packet that we may have met on ours. */
static __always_inline bool dev_never_ours(const void *dev)
{
	__u64 ours;

	CONSTANT(ours, DEV_OF_PACKET);
	if ((__u32)ours == (__u32)DEV_OF_PACKET)
		return false;
	barrier_var(ours);
	return (__u64)dev != ours;
}

/* All but its namespace is right: for what is in our own tables, or is not. */
static __always_inline bool dev_may_be_ours(const struct net_device *dev)
{
	if (dev_is_other(dev))
		return false;
	barrier();		/* a branch, and nothing of what follows before it */
	return dev && dev->ifindex == (int)config.ifindex;
}

/* Ours may be gone, and another have its address; or it may be in another namespace now. */
static __always_inline bool dev_is_it(const struct net_device *dev)
{
	__u64 net;

	if (!dev_may_be_ours(dev))
		return false;
	net = config.net;		/* read once: it is volatile */
	if (net)
		return (__u64)dev->nd_net.net == net;
	return dev->nd_net.net->ns.inum == config.netns;
}

/* The same of an address that comes without its type. */
static __always_inline bool plain_dev_is_it(const struct net_device *dev)
{
	__u64 net;

	if (dev_is_other(dev) || !dev)
		return false;
	barrier();
	if (PLAIN(dev, ifindex) != (int)config.ifindex)
		return false;
	net = config.net;
	if (net)
		return (__u64)PLAIN(dev, nd_net.net) == net;
	return BPF_CORE_READ(dev, nd_net.net, ns.inum) == config.netns;
}

/* The same, and all that is attached to it counts: whose events are to be counted. */
static __always_inline bool dev_is_ours(const struct net_device *dev)
{
	return dev_is_it(dev) && has_begun();
}

/* napi_id -> queue, learned by napi_learn(), with NAPI_TX, or NAPI_OTHER. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, __u32);
	__type(value, __u32);
} napi_queue SEC(".maps");

/*
 * Drivers add their NAPIs in the order of their vectors, and ids only grow: so
 * the rank of an id among the device's is its queue. NAPIs that only transmit
 * have id 0 (netif_napi_add_tx), or they come first, or last: those of igb and
 * gve, where the names of the interrupts tell them apart.
 */
struct napi_walk {
	__u64 head, at;		/* of the device's list of NAPIs */
	__u32 id, rank, all;
	bool found;
};

static long napi_step(__u32 i, struct napi_walk *w)
{
	const struct napi_struct *napi =
		(void *)w->at - bpf_core_field_offset(struct napi_struct, dev_list);
	__u32 id;

	if (!w->at || w->at == w->head)
		return 1;
	id = BPF_CORE_READ(napi, napi_id);
	w->all += !!id;
	w->rank += id && id < w->id;
	w->found |= id == w->id;
	w->at = (__u64)BPF_CORE_READ(napi, dev_list.next);
	return 0;
}

/* It may have other queues by now than when their interrupts were read: then they say nothing. */
static __always_inline __u32 napi_serves(const struct net_device *d, __u32 rank, __u32 all)
{
	__u32 first = config.napi_first, rx = config.napi_rx;	/* read once: they are volatile */

	if (!config.napis || all != config.napis || BPF_CORE_READ(d, real_num_rx_queues) != rx)
		return rank;
	if (rank < first)
		return rank | NAPI_TX;
	return rank - first < rx ? rank - first : (rank - rx) | NAPI_TX;
}

static __noinline __u32 napi_learn(__u64 dev, __u32 id)
{
	const struct net_device *d = (void *)dev;
	struct napi_walk w = {
		.head = dev + bpf_core_field_offset(struct net_device, napi_list),
		.at = (__u64)BPF_CORE_READ(d, napi_list.next),
		.id = id,
	};
	__u32 queue;

	bpf_loop(8192, napi_step, &w, 0);
	queue = w.found ? napi_serves(d, w.rank, w.all) : NAPI_OTHER;
	bpf_map_update_elem(&napi_queue, &id, &queue, BPF_ANY);
	return queue;
}

#endif
