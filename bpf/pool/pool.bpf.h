/* SPDX-License-Identifier: GPL-2.0 */
/* Pages that the page pools of the interface take from and return to the kernel. */
#ifndef NICPROBE_POOL_BPF_H
#define NICPROBE_POOL_BPF_H

#include "bpf/common/asked.bpf.h"
#include "bpf/common/skb.bpf.h"
#include "bpf/pool/pool.h"
#include <bpf/bpf_tracing.h>

METER_MAP(pool);

/* Two programs write, and one may interrupt the other: each has its lane. */
enum pool_lane { HOLD, RELEASE, NR_LANES };

/* Our pools seen so far, and their counts at their last event. */
#define NOT_OURS (~0u)
struct met {
	__u32 row;
	__u32 count[NR_LANES];
};
MAP(HASH, pool_met, __u64, struct met, 8192);

/* Whose the pools seen so far are not. If it is full, each event of a further pool asks all. */
MAP(HASH, host_pools, __u64, struct asked, 2048);

struct veth_walk {
	__u64 rq, pool;
	__u32 queue;
};

static long veth_step(__u32 i, struct veth_walk *w)
{
	const struct veth_rq *rq = (void *)(w->rq + i * bpf_core_type_size(struct veth_rq));

	if ((__u64)BPF_CORE_READ(rq, page_pool) != w->pool)
		return 0;
	w->queue = i;
	return 1;
}

/* veth's pools do not name veth, but its queues point to them; this mirrors netdev_priv(). */
static __always_inline __u32 veth_queue(__u64 pool, const struct net_device *dev)
{
	__u64 size = (bpf_core_type_size(struct net_device) + 31) & ~31ull;
	const struct veth_priv *priv = (void *)dev + size;
	struct veth_walk w = { .pool = pool, .queue = ~0u };

	if (!bpf_core_type_exists(struct veth_rq) ||
	    !bpf_core_field_exists(struct veth_rq, page_pool))
		return ~0u;
	w.rq = (__u64)BPF_CORE_READ(priv, rq);
	bpf_loop(BPF_CORE_READ(dev, num_rx_queues), veth_step, &w, 0);
	return w.queue;
}

static __always_inline bool is_netdev(const struct device *dev)
{
	char name[4] = {};

	bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(dev, class, name));
	return name[0] == 'n' && name[1] == 'e' && name[2] == 't' && !name[3];
}

static __always_inline bool is_parent(const struct device *dev)
{
	__u64 name[sizeof(config.parent) / 8] = {};
	bool same = config.parent[0];

	bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(dev, kobj.name));
	for (unsigned i = 0; i < sizeof(name) / 8; i++) {
		__u64 word;

		__builtin_memcpy(&word, (void *)&config.parent[8 * i], 8);
		same &= name[i] == word;
	}
	return same;
}

/* The row of a pool, by whatever it points to: the device, its NAPI, or only the hardware. */
static __noinline __u32 pool_row(__u64 address)
{
	const struct page_pool *pool = (void *)address;
	const struct device *hardware = BPF_CORE_READ(pool, p.dev);
	const struct napi_struct *napi = NULL;
	const struct net_device *dev = NULL;
	__u32 queue = ~0u, id;

	if (bpf_core_field_exists(pool->p.napi))
		napi = BPF_CORE_READ(pool, p.napi);
	if (bpf_core_field_exists(pool->slow.netdev))
		dev = BPF_CORE_READ(pool, slow.netdev);
	if (!dev && napi)
		dev = BPF_CORE_READ(napi, dev);
	if (!dev && hardware && is_netdev(hardware))
		dev = (void *)hardware - bpf_core_field_offset(struct net_device, dev);
	if (dev ? !plain_dev_is_it(dev) : !hardware || !is_parent(hardware))
		return NOT_OURS;
	id = napi ? BPF_CORE_READ(napi, napi_id) : 0;
	if (TOLD(rx_queues) == 1)
		queue = 0;
	else if (id)
		queue = napi_queue_of(dev, id);
	else if (dev && TOLD(rx_queue) == RX_QUEUE_RAW)
		queue = veth_queue(address, dev);
	return row_of(0, queue);
}

static __always_inline struct pool *pool_at(__u32 row, enum pool_lane lane)
{
	return own_row(pool, lane * TOLD(rows) + row);
}

/* Adds a pool of ours with its counts before this event. NULL: no room. */
static __noinline struct met *meet(__u64 address, __u32 at, enum pool_lane lane, __u32 count)
{
	const struct page_pool *p = (void *)address;
	struct met met = {
		.row = at,
		.count[HOLD] = BPF_CORE_READ(p, pages_state_hold_cnt),
		.count[RELEASE] = BPF_CORE_READ(p, pages_state_release_cnt.counter),
	};
	struct pool *row;

	if (lane == HOLD)
		met.count[HOLD] = count - 1;
	else
		met.count[RELEASE] = count - 1;
	/* another CPU may add it at the same time: one of them counts the pages it has */
	if (!bpf_map_update_elem(&pool_met, &address, &met, BPF_NOEXIST)) {
		row = pool_at(at, lane);
		if (row)
			row->came += met.count[HOLD] - met.count[RELEASE];
	}
	return bpf_map_lookup_elem(&pool_met, &address);
}

#define POOL_TRIES	8

/*
 * How many more pages these are than were counted, and they are from now on; else 0. Two CPUs may
 * return pages at once: the one with the higher count may be the slower.
 */
static __always_inline __u32 grown(__u32 *counted, __u32 count)
{
	__u32 old = *counted, found;

	for (int i = 0; i < POOL_TRIES && (__s32)(count - old) > 0; i++) {
		found = __sync_val_compare_and_swap(counted, old, count);
		if (found == old)
			return count - old;
		old = found;
	}
	return 0;
}

/*
 * `count` is the total that the pool ever took or returned: the next event makes up for a missed
 * one, and a late one adds nothing.
 */
static __always_inline void event(__u64 address, enum pool_lane lane, __u32 count, struct asked *a)
{
	struct met *met = bpf_map_lookup_elem(&pool_met, &address);
	__u32 more, at;
	struct pool *row;

	if (!has_begun())
		return;
	if (!met) {
		at = pool_row(address);
		if (at == NOT_OURS) {
			asked_no(a);
			return;
		}
		met = meet(address, at, lane, count);
	}
	if (!met) {
		lost_add(METER_pool, 1);
		return;
	}
	more = grown(&met->count[lane], count);
	row = more ? pool_at(met->row, lane) : NULL;
	if (!row)
		return;
	if (lane == HOLD) {
		row->came += more;
		row->taken += more;
	} else {
		row->went += more;
		row->returned += more;
	}
}

/* A pool without pages is gone, and its address may be reused. The last of us forgets it. */
SEC("tp_btf/page_pool_release")
int BPF_PROG(pool_gone, const struct page_pool *pool, __s32 inflight)
{
	__u64 address = (__u64)pool;
	struct asked *a;

	if (inflight)
		return 0;
	a = bpf_map_lookup_elem(&host_pools, &address);
	if (meter_on(METER_pool) && asked_us(a))
		bpf_map_delete_elem(&pool_met, &address);
	if (shares(SHARED_pool_gone))
		pass_along(ctx, &to_pool_gone, SHARED_pool_gone, asked_slots(a));
	bpf_map_delete_elem(&host_pools, &address);
	return 0;
}

static __always_inline void pool_event(void *ctx, void *next, enum shared_program program,
				       __u64 address, enum pool_lane lane, __u32 count)
{
	static const struct asked nobody;
	struct asked *a = lookup_or_init(&host_pools, &address, &nobody);

	if (a)
		asked_renew(a, 0, 0);
	if (meter_on(METER_pool) && asked_us(a))
		event(address, lane, count, a);
	if (shares(program))
		pass_along(ctx, next, program, asked_slots(a));
}

#define POOL_EVENT(name, event, lane)						\
	SEC("tp_btf/" event)							\
	int BPF_PROG(name, const struct page_pool *pool, __u64 page, __u32 nr)	\
	{									\
		pool_event(ctx, &to_##name, SHARED_##name, (__u64)pool, lane, nr);	\
		return 0;							\
	}
POOL_EVENT(pool_release, "page_pool_state_release", RELEASE)
POOL_EVENT(pool_hold, "page_pool_state_hold", HOLD)

/* This names the queue of a new pool, in case the pool itself does not. */
SEC("tp_btf/mem_connect")
int BPF_PROG(pool_connect, const struct xdp_mem_allocator *mem,
	     const struct xdp_rxq_info *rxq)
{
	const struct net_device *dev;
	struct met met = {};
	__u64 address;

	if (!mem || !rxq)
		return 0;
	dev = rxq->dev;
	if (!meter_on(METER_pool) || !plain_dev_is_it(dev)) {
		PASS(ctx, pool_connect, dev);
		return 0;
	}
	address = (__u64)mem->allocator;
	if (!has_begun() || !asked_us(bpf_map_lookup_elem(&host_pools, &address)))
		return 0;
	met.row = row_of(0, rxq->queue_index);
	bpf_map_update_elem(&pool_met, &address, &met, BPF_NOEXIST);
	return 0;
}

#endif
