/* SPDX-License-Identifier: GPL-2.0 */
/* What XDP programs do with the interface's packets, from the kernel's XDP tracepoints. */
#ifndef NICPROBE_XDP_BPF_H
#define NICPROBE_XDP_BPF_H

#include "bpf/common/host.bpf.h"
#include "bpf/common/skb.bpf.h"
#include "bpf/xdp/xdp.h"
#include <bpf/bpf_tracing.h>

METER_KEYED_MAP(xdp, XDP_KEYS);

/*
 * Cpumaps to which programs of the interface have redirected since attach. The tracepoints of
 * the kernel's cpumaps have no interface.
 */
MAP(HASH, xdp_cpumaps, __u32, __u32, 64);

/* XDP and all these tracepoints run with softirqs off: nothing nests. */
static __always_inline void add(const struct xdp_key *key, __u64 packets)
{
	struct xdp *row, zero = {};

	if (!packets)
		return;
	row = lookup_or_init(&xdp, key, &zero);
	if (row)
		row->packets += packets;
	else
		lost_add(METER_xdp, packets);
}

static __always_inline __u32 id_of(const struct bpf_prog *prog)
{
	return prog ? ARGUMENT(prog)->aux->id : 0;
}

static __always_inline bool ours(const struct net_device *dev)
{
	return meter_on(METER_xdp) && dev_is_ours(ARGUMENT(dev));
}

/* From now on the events of this cpumap are passed on to us, and counted. */
static __always_inline void cpumap_learn(__u32 map)
{
	struct slots *slots = (struct slots *)&host.cpumap[map & (CPUMAP_PLACES - 1)];
	__u32 known = 1;

	__sync_fetch_and_or(&slots->word[SLOT_WORD(TOLD(slot))], SLOT_BIT(TOLD(slot)));
	bpf_map_update_elem(&xdp_cpumaps, &map, &known, BPF_ANY);
}

static __always_inline struct chosen cpumap_slots(__u32 map)
{
	return (struct chosen){ .set = &host.cpumap[map & (CPUMAP_PLACES - 1)] };
}

/* The index of a failed redirect may be anything: keep only the map. */
static __always_inline void redirect(const struct bpf_prog *prog, int err, __u32 map_type,
				     __u32 map, __u32 index)
{
	struct xdp_key key = { .event = XDP_REDIRECTED, .result = -err };

	key.prog = id_of(prog);
	key.map_type = map_type;
	key.map = map_type == BPF_MAP_TYPE_UNSPEC ? 0 : map;
	key.index = err ? 0 : index;
	add(&key, 1);
	if (map_type == BPF_MAP_TYPE_CPUMAP && !row_at(&xdp_cpumaps, map))
		cpumap_learn(map);
}

static __always_inline void xdp_sent(struct xdp_key *key, int nr, int drops, int err)
{
	if (nr > 0)
		add(key, nr);
	key->result = err ? -err : XDP_NOT_TAKEN;
	if (drops > 0)
		add(key, drops);
}

static __always_inline bool cpumap_key(struct xdp_key *key, __u32 map, __u32 cpu)
{
	if (!row_at(&xdp_cpumaps, map))
		return false;
	key->map_type = BPF_MAP_TYPE_CPUMAP;
	key->map = map;
	key->index = cpu;
	return true;
}

SEC("tp_btf/xdp_exception")
int BPF_PROG(xdp_except, const struct net_device *dev, const struct bpf_prog *prog, __u32 act)
{
	struct xdp_key key = { .event = XDP_EXCEPTION, .result = act };

	if (!ours(dev)) {
		PASS(ctx, xdp_except, dev);
		return 0;
	}
	key.prog = id_of(prog);
	add(&key, 1);
	return 0;
}

#define REDIRECT(name, event)							\
	SEC("tp_btf/" event)							\
	int BPF_PROG(name, const struct net_device *dev, const struct bpf_prog *prog,	\
		     const void *to, int err, __u32 map_type, __u32 map, __u32 index)	\
	{									\
		if (ours(dev))							\
			redirect(prog, err, map_type, map, index);		\
		else								\
			PASS(ctx, name, dev);					\
		return 0;							\
	}
REDIRECT(xdp_redir, "xdp_redirect")
REDIRECT(xdp_redir_err, "xdp_redirect_err")

static __always_inline void handed_on(enum xdp_event event, const struct net_device *other, int nr,
				      int drops, int err)
{
	struct xdp_key key = { .event = event };

	bpf_probe_read_kernel_str(key.dev, sizeof(key.dev),
				  __builtin_preserve_access_index(&other->name));
	xdp_sent(&key, nr, drops, err);
}

/* Two interfaces may count it. */
SEC("tp_btf/xdp_devmap_xmit")
int BPF_PROG(xdp_handed_on, const struct net_device *from, const struct net_device *to, int nr,
	     int drops, int err)
{
	if (!from || !to)
		return 0;
	if (ours(from))
		handed_on(XDP_SENT_TO, to, nr, drops, err);
	else if (ours(to))
		handed_on(XDP_SENT_FROM, from, nr, drops, err);
	if (shares(SHARED_xdp_handed_on))
		pass_along(ctx, &to_xdp_handed_on, SHARED_xdp_handed_on,
			   (struct chosen){ .one = device_slot(from), .other = device_slot(to) });
	return 0;
}

SEC("tp_btf/xdp_bulk_tx")
int BPF_PROG(xdp_back, const struct net_device *dev, int nr, int drops, int err)
{
	struct xdp_key key = { .event = XDP_SENT_BACK };

	if (ours(dev))
		xdp_sent(&key, nr, drops, err);
	else
		PASS(ctx, xdp_back, dev);
	return 0;
}

/* `nr` includes the drops (bq_flush_to_queue()). */
static __always_inline void enqueued(__u32 map, __u32 nr, __u32 drops, __u32 cpu)
{
	struct xdp_key key = { .event = XDP_CPU_ENQUEUE, .result = XDP_CPU_OK };

	if (!cpumap_key(&key, map, cpu))
		return;
	add(&key, nr - drops);
	key.result = XDP_CPU_FULL;
	add(&key, drops);
}

SEC("tp_btf/xdp_cpumap_enqueue")
int BPF_PROG(xdp_enqueued, int map, __u32 nr, __u32 drops, int cpu)
{
	if (meter_on(METER_xdp))
		enqueued(map, nr, drops, cpu);
	if (shares(SHARED_xdp_enqueued))
		pass_along(ctx, &to_xdp_enqueued, SHARED_xdp_enqueued, cpumap_slots(map));
	return 0;
}

static __always_inline void processed(__u32 map, __u32 nr, __u32 drops,
				      const struct xdp_cpumap_stats *stats)
{
	struct xdp_key key = { .event = XDP_CPU_DONE, .result = XDP_CPU_NO_MEMORY };
	__u32 redirected, dropped;

	if (!cpumap_key(&key, map, bpf_get_smp_processor_id()))
		return;
	redirected = stats->redirect;
	dropped = stats->drop;
	add(&key, drops);
	key.result = XDP_CPU_REDIRECTED;
	add(&key, redirected);
	key.result = XDP_CPU_DROPPED;
	add(&key, dropped);
	key.result = XDP_CPU_PASSED;
	add(&key, nr - drops - redirected - dropped);
}

SEC("tp_btf/xdp_cpumap_kthread")
int BPF_PROG(xdp_processed, int map, __u32 nr, __u32 drops, int sched,
	     const struct xdp_cpumap_stats *stats)
{
	if (meter_on(METER_xdp) && stats)
		processed(map, nr, drops, stats);
	if (shares(SHARED_xdp_processed))
		pass_along(ctx, &to_xdp_processed, SHARED_xdp_processed, cpumap_slots(map));
	return 0;
}

#endif
