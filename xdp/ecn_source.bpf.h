/* SPDX-License-Identifier: GPL-2.0 */
/* Counts received CE packets by source address. */
#include "lib/core/table.bpf.h"
#include "xdp/ecn_source.h"

METER_TABLE(ecn_source);

#define NO_FAMILY 2	/* no packet is of it */

static __always_inline bool ecn_source_is(const struct ecn_source_way *w, __u64 first, __u64 second,
					  __u32 ipv6)
{
	__u64 a, b;

	__builtin_memcpy(&a, w->key.address, sizeof(a));
	__builtin_memcpy(&b, w->key.address + 2, sizeof(b));
	return !((a ^ first) | (b ^ second) | (w->key.ipv6 ^ ipv6));
}

/* A source that has no row in its set. */
static __noinline int ecn_source_new(__u32 nr, __u64 first, __u64 second, __u32 ipv6, __u32 segs)
{
	union ecn_source_set *set = own_set(ecn_source, nr), *marks = table_marks(ecn_source, nr);
	struct ecn_source_way *w;
	__u64 had;

	if (!set || !marks)
		return 0;
	w = &set->way[table_least(set, marks, nr)];
	if (!table_take(&w->turn)) {
		lost_add(METER_ecn_source, segs);
		return 0;
	}
	w->key.ipv6 = NO_FAMILY;
	had = __sync_lock_test_and_set(&w->row.packets, 0);
	__builtin_memcpy(w->key.address, &first, sizeof(first));
	__builtin_memcpy(w->key.address + 2, &second, sizeof(second));
	barrier();	/* a packet that comes in between finds the whole address, or none */
	w->key.ipv6 = ipv6;
	__sync_fetch_and_add(&w->row.packets, segs);
	table_give(&w->turn);
	if (had)
		lost_add(METER_ecn_source, had);
	return 0;
}

static __always_inline void ecn_source_packet(const struct packet *p, __u64 at)
{
	union ecn_source_set *set;
	__u32 nr;

	(void)at;
	if (p->point == RX_NIC && p->ecn == ECN_UNREAD)
		lost_add(METER_ecn_source, p->segs);	/* it may have been marked */
	if (p->point != RX_NIC || LIKELY(p->ecn != ECN_CE))
		return;
	/* of either family: an IPv6 address that is an IPv4 address and zeros has its set */
	nr = table_set(p->src[0], p->src[1]);
	set = own_set(ecn_source, nr);
	if (!set)
		return;
	UNROLL
	for (int i = 0; i < TABLE_WAYS; i++)
		if (ecn_source_is(&set->way[i], p->src[0], p->src[1], p->ipv6)) {
			TABLE_ADD(set->way[i].row.packets, p->segs);
			return;
		}
	ecn_source_new(nr, p->src[0], p->src[1], p->ipv6, p->segs);
}
