/* SPDX-License-Identifier: GPL-2.0 */
/* What XDP programs do with the interface's packets, from the kernel's XDP tracepoints. */
#include "bpf/common/skb.bpf.h"
#include "bpf/xdp/xdp.h"
#include <bpf/bpf_tracing.h>

METER_KEYED_MAP(xdp, XDP_KEYS);

/*
 * Cpumaps to which programs of the interface have redirected since attach. The tracepoints of
 * cpumaps have no interface.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, __u32);
} cpumaps SEC(".maps");

/* XDP and all these tracepoints run with softirqs off: nothing nests. */
static __always_inline void add(const struct xdp_key *key, __u64 packets)
{
	struct xdp *row, zero = {};

	if (!packets)
		return;
	row = bpf_map_lookup_elem(&xdp, key);
	if (!row) {
		bpf_map_update_elem(&xdp, key, &zero, BPF_NOEXIST);
		row = bpf_map_lookup_elem(&xdp, key);
	}
	if (row)
		row->packets += packets;
	else
		lost_add(METER_xdp, packets);
}

static __always_inline __u32 id_of(const struct bpf_prog *prog)
{
	return prog ? prog->aux->id : 0;
}

static __always_inline int exception(const struct net_device *dev,
				     const struct bpf_prog *prog, __u32 act)
{
	struct xdp_key key = { .event = XDP_EXCEPTION, .result = act };

	if (!dev_is_ours(dev))
		return 0;
	key.prog = id_of(prog);
	add(&key, 1);
	return 0;
}

/* The index of a failed redirect may be anything: keep only the map. */
static __always_inline int redirect(const struct net_device *dev,
				    const struct bpf_prog *prog, int err, __u32 map_type,
				    __u32 map, __u32 index)
{
	struct xdp_key key = { .event = XDP_REDIRECTED, .result = -err };
	__u32 known = 1;

	if (!dev_is_ours(dev))
		return 0;
	key.prog = id_of(prog);
	key.map_type = map_type;
	key.map = map_type == BPF_MAP_TYPE_UNSPEC ? 0 : map;
	key.index = err ? 0 : index;
	add(&key, 1);
	if (map_type == BPF_MAP_TYPE_CPUMAP && !bpf_map_lookup_elem(&cpumaps, &map))
		bpf_map_update_elem(&cpumaps, &map, &known, BPF_ANY);
	return 0;
}

static __always_inline void sent(struct xdp_key *key, int nr, int drops, int err)
{
	if (nr > 0)
		add(key, nr);
	key->result = err ? -err : XDP_NOT_TAKEN;
	if (drops > 0)
		add(key, drops);
}

static __always_inline int forwarded(const struct net_device *from,
				     const struct net_device *to, int nr, int drops, int err)
{
	const struct net_device *other;
	struct xdp_key key = {};

	if (!from || !to)
		return 0;
	if (dev_is_ours(from)) {
		key.event = XDP_SENT_TO;
		other = to;
	} else if (dev_is_ours(to)) {
		key.event = XDP_SENT_FROM;
		other = from;
	} else {
		return 0;
	}
	bpf_probe_read_kernel_str(key.dev, sizeof(key.dev),
				  __builtin_preserve_access_index(&other->name));
	sent(&key, nr, drops, err);
	return 0;
}

static __always_inline int sent_back(const struct net_device *dev, int nr, int drops,
				     int err)
{
	struct xdp_key key = { .event = XDP_SENT_BACK };

	if (dev_is_ours(dev))
		sent(&key, nr, drops, err);
	return 0;
}

static __always_inline bool cpumap_key(struct xdp_key *key, __u32 map, __u32 cpu)
{
	if (!bpf_map_lookup_elem(&cpumaps, &map))
		return false;
	key->map_type = BPF_MAP_TYPE_CPUMAP;
	key->map = map;
	key->index = cpu;
	return true;
}

/* `nr` includes the drops (bq_flush_to_queue()). */
static __always_inline int enqueued(int map, __u32 nr, __u32 drops, int cpu)
{
	struct xdp_key key = { .event = XDP_CPU_ENQUEUE, .result = XDP_CPU_OK };

	if (!cpumap_key(&key, map, cpu))
		return 0;
	add(&key, nr - drops);
	key.result = XDP_CPU_FULL;
	add(&key, drops);
	return 0;
}

static __always_inline int processed(int map, __u32 nr, __u32 drops,
				     const struct xdp_cpumap_stats *stats)
{
	struct xdp_key key = { .event = XDP_CPU_DONE, .result = XDP_CPU_NO_MEMORY };
	__u32 redirected, dropped;

	if (!stats || !cpumap_key(&key, map, bpf_get_smp_processor_id()))
		return 0;
	redirected = stats->redirect;
	dropped = stats->drop;
	add(&key, drops);
	key.result = XDP_CPU_REDIRECTED;
	add(&key, redirected);
	key.result = XDP_CPU_DROPPED;
	add(&key, dropped);
	key.result = XDP_CPU_PASSED;
	add(&key, nr - drops - redirected - dropped);
	return 0;
}

#define ON(name, event, params, call)	\
	SEC("tp_btf/" event)		\
	int BPF_PROG(name, params)	\
	{				\
		return call;		\
	}
#define PARAMS(...) __VA_ARGS__

ON(xdp_except, "xdp_exception",
	PARAMS(const struct net_device *dev, const struct bpf_prog *prog, __u32 act),
	exception(dev, prog, act))
ON(xdp_redir, "xdp_redirect",
	PARAMS(const struct net_device *dev, const struct bpf_prog *prog, const void *to, int err,
	    __u32 map_type, __u32 map, __u32 index),
	redirect(dev, prog, err, map_type, map, index))
ON(xdp_redir_err, "xdp_redirect_err",
	PARAMS(const struct net_device *dev, const struct bpf_prog *prog, const void *to, int err,
	    __u32 map_type, __u32 map, __u32 index),
	redirect(dev, prog, err, map_type, map, index))
ON(xdp_handed_on, "xdp_devmap_xmit",
	PARAMS(const struct net_device *from, const struct net_device *to, int nr, int drops,
	    int err),
	forwarded(from, to, nr, drops, err))
ON(xdp_back, "xdp_bulk_tx",
	PARAMS(const struct net_device *dev, int nr, int drops, int err),
	sent_back(dev, nr, drops, err))
ON(xdp_enqueued, "xdp_cpumap_enqueue",
	PARAMS(int map, __u32 nr, __u32 drops, int cpu),
	enqueued(map, nr, drops, cpu))
ON(xdp_processed, "xdp_cpumap_kthread",
	PARAMS(int map, __u32 nr, __u32 drops, int sched, const struct xdp_cpumap_stats *stats),
	processed(map, nr, drops, stats))

char _license[] SEC("license") = "GPL";
