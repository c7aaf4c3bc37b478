/* SPDX-License-Identifier: GPL-2.0 */
/* Does an event belong to our interface, and to which of its NAPIs? */
#ifndef NICPROBE_DEV_BPF_H
#define NICPROBE_DEV_BPF_H

#include "lib/core/meter.bpf.h"
#include "lib/core/kernel.bpf.h"

/* Certainly not our interface? Nearly all events end here, so programs ask this first. */
static __always_inline bool dev_is_other(const void *dev)
{
	__u64 ours;

	CONSTANT(ours, DEV_UNKNOWN);
	if ((__u32)ours == (__u32)DEV_UNKNOWN)
		return false;
	barrier_var(ours);
	return (__u64)dev != ours;
}

/* As dev_is_other(), for the device of a packet that we may have seen on our interface. */
static __always_inline bool dev_never_ours(const void *dev)
{
	__u64 ours;

	CONSTANT(ours, DEV_OF_PACKET);
	if ((__u32)ours == (__u32)DEV_OF_PACKET)
		return false;
	barrier_var(ours);
	return (__u64)dev != ours;
}

/* Checks everything but the namespace: enough for what is looked up in our tables anyway. */
static __always_inline bool dev_may_be_ours(const struct net_device *dev)
{
	if (dev_is_other(dev))
		return false;
	barrier();		/* keep this a branch, with nothing moved before it */
	return dev && dev->ifindex == (int)TOLD(ifindex);
}

/* Our interface may be gone and its address reused, or it may be in another namespace now. */
static __always_inline bool dev_is_it(const struct net_device *dev)
{
	__u64 net;

	if (!dev_may_be_ours(dev))
		return false;
	net = TOLD(net);
	if (net)
		return (__u64)dev->nd_net.net == net;
	return dev->nd_net.net->ns.inum == TOLD(netns);
}

/* The network namespace of a device whose address has no BTF type. */
static __always_inline __u32 plain_netns_of(const struct net_device *dev)
{
	const struct net *net = PLAIN(dev, nd_net.net);

	return PLAIN(net, ns.inum);
}

/* As dev_is_it(), for such an address. */
static __always_inline bool plain_dev_is_it(const struct net_device *dev)
{
	__u64 net;

	if (dev_is_other(dev) || !dev)
		return false;
	barrier();
	if (PLAIN(dev, ifindex) != (int)TOLD(ifindex))
		return false;
	net = TOLD(net);
	if (net)
		return (__u64)PLAIN(dev, nd_net.net) == net;
	return plain_netns_of(dev) == TOLD(netns);
}

/* As dev_is_it(), once counting has begun: the check for events that are counted. */
static __always_inline bool dev_is_ours(const struct net_device *dev)
{
	return dev_is_it(dev) && has_begun();
}

/* napi_id -> queue, maybe with NAPI_TX, or NAPI_OTHER; filled by napi_learn(). */
MAP(HASH, napi_queue, __u32, __u32, 8192);

/*
 * Drivers add their NAPIs in the order of their vectors, and ids only grow, so the rank of an id
 * among those of the device is its queue. NAPIs that only transmit have id 0 (netif_napi_add_tx),
 * or come first or last: with igb and gve, where interrupt names tell them apart.
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

/* If the queues have changed since the interrupts were read, the interrupt names do not apply. */
static __always_inline __u32 napi_serves(const struct net_device *d, __u32 rank, __u32 all)
{
	__u32 first = TOLD(napi_first), rx = TOLD(napi_rx);

	if (!TOLD(napis) || all != TOLD(napis) || BPF_CORE_READ(d, real_num_rx_queues) != rx)
		return rank;
	if (rank < first)
		return rank | NAPI_TX;
	return rank - first < rx ? rank - first : (rank - rx) | NAPI_TX;
}

struct napi_asked {
	__u64 dev;
	__u64 id;
};

/* Not static, weak, and given a struct, as ipv6_headers(). */
__noinline __weak __u32 napi_learn(const struct napi_asked *a)
{
	const struct net_device *d;
	struct napi_walk w = {};
	__u32 queue;

	if (!a)
		return NAPI_OTHER;
	d = (void *)a->dev;
	w.head = a->dev + bpf_core_field_offset(struct net_device, napi_list);
	w.at = (__u64)BPF_CORE_READ(d, napi_list.next);
	w.id = a->id;
	bpf_loop(8192, napi_step, &w, 0);
	queue = w.found ? napi_serves(d, w.rank, w.all) : NAPI_OTHER;
	bpf_map_update_elem(&napi_queue, &w.id, &queue, BPF_ANY);
	return queue;
}

static __always_inline __u32 napi_queue_of(const struct net_device *dev, __u32 id)
{
	__u32 *known = row_at(&napi_queue, id);
	struct napi_asked asked;

	if (known)
		return *known;
	asked = (struct napi_asked){ .dev = (__u64)dev, .id = id };
	return napi_learn(&asked);
}

#endif
