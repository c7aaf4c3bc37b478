/* SPDX-License-Identifier: GPL-2.0 */
/* Kinds of qdisc seen so far, numbered so that they fit in a stamp; the format of stamps. */
#include "bpf/common/txq.bpf.h"
#include "bpf/qdisc/qdisc.h"
#include "lib/core/meter.bpf.h"

/* A stamp is ns << STAMP_SHIFT | kind << QUEUE_BITS | queue. */
#define KIND_BITS	4
#define KIND_MASK	((1u << KIND_BITS) - 1)
#define STAMP_SHIFT	(QUEUE_BITS + KIND_BITS)
#define STAMP_MASK	((1u << STAMP_SHIFT) - 1)

/* Kinds of qdisc in the order first seen. The last slot is for packets without one. */
struct kind {
	__u64 ops;		/* written last: if set, the rest is complete */
	__u32 taken;
	char id[16];
};
MAP(ARRAY, qdisc_kinds, __u32, struct kind, KIND_MASK + 1);

static __noinline __u32 kind_add(__u64 ops)
{
	for (__u32 i = 0; i < KIND_MASK; i++) {
		struct kind *k = row_at(&qdisc_kinds, i);

		if (!k || __sync_val_compare_and_swap(&k->taken, 0, 1))
			continue;
		bpf_probe_read_kernel(k->id, sizeof(k->id), ((struct Qdisc_ops *)ops)->id);
		k->ops = ops;
		return i;
	}
	return KIND_MASK;
}

/* The number of the present kind of qdisc of a queue. */
static __always_inline __u32 kind_of(const struct net_device *dev, __u32 queue)
{
	const struct netdev_queue *txq = txq_of(dev, queue);
	const struct Qdisc *qdisc = PLAIN(txq, qdisc);
	__u64 ops = (__u64)PLAIN(qdisc, ops);

	if (!ops)
		return KIND_MASK;
	for (__u32 i = 0; i < KIND_MASK; i++) {
		const struct kind *k = row_at(&qdisc_kinds, i);

		if (k && k->ops == ops)
			return i;
		if (!k || !k->taken)
			break;
	}
	return kind_add(ops);
}

/* From a stamp, or only its lower bits. */
static __always_inline void key_fill(__u64 stamp, struct qdisc_key *key)
{
	const struct kind *k = row_at(&qdisc_kinds, stamp >> QUEUE_BITS & KIND_MASK);

	_Static_assert(sizeof(key->kind) == sizeof(k->id), "copied whole");
	key->queue = stamp & QUEUE_MASK;
	if (k)
		__builtin_memcpy(key->kind, k->id, sizeof(key->kind));
}
