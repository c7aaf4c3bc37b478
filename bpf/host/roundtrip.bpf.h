/* SPDX-License-Identifier: GPL-2.0 */
/* Follows questions from their first packet to their answers, counting each packet once. */
#ifndef NICPROBE_ROUNDTRIP_BPF_H
#define NICPROBE_ROUNDTRIP_BPF_H

#include "bpf/common/again.bpf.h"
#include "bpf/host/ip.bpf.h"
#include "bpf/host/roundtrip.h"

#define SAME_PACKET_NS	1000000000	/* from the first device of a stack to the last */

/* A map of questions; the oldest make room. */
#define ROUNDTRIP_MAP(name)						\
	MAP(LRU_HASH, name, struct roundtrip, struct roundtrip_state, ROUNDTRIPS)

/* A meter's map of rows by who asks whom. */
#define ASKER_MAP(name)		REMOTE_MAP_BY(name, struct asker_key)

/* Of the map and the struct `name`. NULL: there is no room. */
#define ASKER_ROW(name, server, process) ({				\
	struct asker_key asker_key = { .remote = *(server) }, asker_others = {};	\
	const char *asker_comm = (process);				\
	if (asker_comm)							\
		__builtin_memcpy(asker_key.comm, asker_comm, COMM_SIZE);	\
	REMOTE_ROW(&name, &asker_key, &asker_others, &name##_none, METER_##name);	\
})

/* Where a packet counts that belongs to no question: anybody may send it, so it takes no row. */
#define ASKER_OTHERS(name) ({						\
	struct asker_key asker_key = {};				\
	(struct name *)bpf_map_lookup_elem(&name, &asker_key);		\
})

/* Has another device of this host seen it just now? Else this one is the first. */
static __always_inline bool sighted(struct sighting *last, const struct sk_buff *skb, __u64 now)
{
	__u64 device = (__u64)PLAIN(skb, dev);

	if (last->device && last->device != device && now - last->seen < SAME_PACKET_NS)
		return true;
	last->seen = now;
	last->device = device;
	return false;
}

/* Whose question it is, if the current task sends it: not what is forwarded, or has waited. */
static __always_inline void asked_by(struct roundtrip_state *asked, const struct sk_buff *skb)
{
	struct counted *here = row_at(&counted, 0);

	if (packet_is_own(skb) && here &&
	    !(preempt_count(here) & (SERVING_SOFTIRQ | HARDIRQ_OR_NMI)))
		bpf_get_current_comm(asked->comm, sizeof(asked->comm));
}

enum asked_is {
	ASKED_NEW,
	ASKED_AGAIN,		/* it has no answer yet */
	ASKED_SEEN,		/* by another device, or there is no room */
};

/* `as`: with whose name it is remembered. `sent`: by us, or a host behind us. */
static __always_inline enum asked_is roundtrip_asked(void *map, const struct roundtrip *q,
						     const struct sk_buff *skb, bool sent,
						     struct roundtrip_state *as)
{
	struct roundtrip_state *known = bpf_map_lookup_elem(map, q);
	__u64 now = bpf_ktime_get_ns();

	if (known && !known->answered) {
		__builtin_memcpy(as->comm, known->comm, sizeof(as->comm));
		return sighted(&known->last, skb, now) ? ASKED_SEEN : ASKED_AGAIN;
	}
	__builtin_memset(as, 0, sizeof(*as));
	as->since = now;
	sighted(&as->last, skb, now);
	if (sent)
		asked_by(as, skb);
	return bpf_map_update_elem(map, q, as, BPF_ANY) ? ASKED_SEEN : ASKED_NEW;
}

enum answer_is {
	ANSWER_FIRST,
	ANSWER_FURTHER,
	ANSWER_SEEN,		/* by another device */
};

static __always_inline enum answer_is roundtrip_answered(struct roundtrip_state *asked,
							 const struct sk_buff *skb, __u64 now)
{
	struct sighting first = {};

	if (__sync_lock_test_and_set(&asked->answered, 1))
		return sighted(&asked->last, skb, now) ? ANSWER_SEEN : ANSWER_FURTHER;
	sighted(&first, skb, now);
	asked->last = first;
	return ANSWER_FIRST;
}

#endif
