/* SPDX-License-Identifier: GPL-2.0 */
/* The rank of a NAPI without an id among those of its device that have none. */
#ifndef NICPROBE_NAMELESS_BPF_H
#define NICPROBE_NAMELESS_BPF_H

#include "bpf/common/dev.bpf.h"

/* Rank by address of the NAPI; ~0: it is not of this device. */
MAP(LRU_HASH, napi_nameless, __u64, __u32, 1024);

struct nameless_walk {
	__u64 head, at, napi;
	__u32 all, nth;		/* NAPIs without an id; position of ours among them, from 1 */
};

/*
 * Nothing here may depend on a word that is constant before the loop: the verifier of 6.1 checks
 * the first iteration only and removes branches that it does not take.
 */
static long nameless_step(__u32 i, struct nameless_walk *w)
{
	const struct napi_struct *napi =
		(void *)w->at - bpf_core_field_offset(struct napi_struct, dev_list);

	if (!w->at || w->at == w->head)
		return 1;
	w->all += !BPF_CORE_READ(napi, napi_id);
	if ((__u64)napi == w->napi)
		w->nth = w->all;
	w->at = (__u64)BPF_CORE_READ(napi, dev_list.next);
	return 0;
}

static __noinline __u32 nameless_learn(__u64 dev, __u64 napi)
{
	const struct net_device *d = (void *)dev;
	struct nameless_walk w = {
		.head = dev + bpf_core_field_offset(struct net_device, napi_list),
		.at = (__u64)BPF_CORE_READ(d, napi_list.next),
		.napi = napi,
	};
	__u32 rank;

	bpf_loop(8192, nameless_step, &w, 0);
	/* a device lists its newest NAPI first; since 6.13 this also holds for those without id */
	rank = w.nth ? w.all - w.nth : ~0u;
	bpf_map_update_elem(&napi_nameless, &napi, &rank, BPF_ANY);
	return rank;
}

static __always_inline __u32 nameless_rank(__u64 dev, __u64 napi)
{
	__u32 *known = bpf_map_lookup_elem(&napi_nameless, &napi);

	return known ? *known : nameless_learn(dev, napi);
}

#endif
