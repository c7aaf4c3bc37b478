/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Follows each entry of the neighbour tables from the first packet that waits to the answer. The
 * kernel's steps are those of net/core/neighbour.c as read in 6.6 and seen in 6.1, 6.12 and 6.18.
 */
#ifndef NICPROBE_NEIGH_BPF_H
#define NICPROBE_NEIGH_BPF_H

#include "bpf/neigh/neigh_entry.bpf.h"

/*
 * A packet waits, or somebody asks for the address without one (skb is NULL), which the event does
 * not tell. The queue is longer than what was counted if other CPUs are about to tell of theirs.
 * It is read after the count: so it is never taken for shorter than it should be.
 */
static __always_inline void neigh_queued(const struct neighbour *n, struct neigh_asked *asked,
					 struct neigh *row)
{
	__u64 packets, evicted, old;
	__u32 length = PLAIN(n, arp_queue.qlen);

	if (!length)
		return;
	packets = __sync_fetch_and_add(&asked->packets, 1) + 1;
	COUNT(row, waited, 1);
	barrier();
	length = PLAIN(n, arp_queue.qlen);
	old = asked->evicted;
	evicted = packets - length;
	/* else another CPU has given up, and this is the queue of the next time */
	if (length && asked->updated == PLAIN(n, updated) && (__s64)evicted > (__s64)old &&
	    __sync_val_compare_and_swap(&asked->evicted, old, evicted) == old)
		COUNT(row, drops[NEIGH_DROP_OVERFLOW], evicted - old);
}

/* Packets of two CPUs may both be the first: what one of them has begun stays. NULL: no room. */
static __always_inline struct neigh_asked *neigh_begin(__u64 key, const struct neigh_asked *as)
{
	struct neigh_asked *asked;

	bpf_map_update_elem(&neigh_asking, &key, as, BPF_NOEXIST);
	asked = bpf_map_lookup_elem(&neigh_asking, &key);
	if (!asked)
		lost_add(METER_neigh, 1);
	return asked;
}

/*
 * The kernel counts a question once it is sent, on whichever CPU: at the beginning of the call that
 * found the address missing, or by its timer.
 */
static __always_inline void neigh_solicited(const struct neighbour *n, struct neigh_asked *asked,
					    struct neigh *row)
{
	__u64 old = asked->probes, now = neigh_probes(n);

	if (now > old && __sync_val_compare_and_swap(&asked->probes, old, now) == old)
		COUNT(row, solicits, now - old);
}

/* The kernel asks for the address, or has long done so when we came. */
static __always_inline struct neigh_asked *neigh_ask(__u64 key, const struct neighbour *n)
{
	struct neigh_asked asked = { .updated = PLAIN(n, updated) }, *begun;

	if (neigh_prompt(n)) {
		asked.since = neigh_born(key, n) ?: bpf_ktime_get_ns();
		asked.probes = neigh_unicast(n);
	} else {
		asked.packets = PLAIN(n, arp_queue.qlen);
		asked.packets -= !!asked.packets;	/* this one is to be counted */
		asked.probes = neigh_probes(n);
	}
	begun = neigh_begin(key, &asked);
	bpf_map_delete_elem(&neigh_births, &key);
	return begun;
}

/* An address has become known, or the entry is removed, while so many packets wait. */
static __always_inline void neigh_settled(__u32 length, struct neigh_asked *asked,
					  struct neigh *row)
{
	__s64 more = (__s64)length - (__s64)(asked->packets - asked->evicted);

	if (more > 0)		/* other CPUs have not told yet, and will be too late */
		COUNT(row, waited, more);
	else if (more < 0)
		COUNT(row, drops[NEIGH_DROP_OVERFLOW], -more);
}

static __always_inline void neigh_resolved(__u64 key, const struct neighbour *n, struct neigh *row,
					   bool admin)
{
	__u64 now = bpf_ktime_get_ns(), unicast = neigh_unicast(n);
	__u32 length = PLAIN(n, arp_queue.qlen);
	struct neigh_asked asked = {};
	bool prompt = neigh_prompt(n);

	/* the packets were counted before: whoever is not first sends them meanwhile */
	barrier();
	if (!neigh_answers_first(key))
		return;
	/*
	 * Without: its answer came before the event that it was asked for, in a softirq between
	 * the two (__neigh_event_send() enables them first, 6.1 to 6.18), or it was before us.
	 */
	if (!neigh_take(key, &asked)) {
		asked.since = prompt ? neigh_born(key, n) : 0;
		asked.probes = prompt ? unicast : neigh_probes(n);
	}
	if (prompt && asked.probes == unicast)		/* not even the kernel has counted it yet */
		COUNT(row, solicits, 1);
	else
		neigh_solicited(n, &asked, row);
	neigh_settled(length, &asked, row);
	COUNT(row, ends[admin ? NEIGH_SET : NEIGH_ANSWERED], 1);
	if (admin)
		return;
	if (asked.since)
		SPAN_ADD(row, latency, now - asked.since);
	else
		COUNT(row, untimed, 1);
}

/* Does its device need no addresses? */
static __always_inline bool neigh_bare(const struct neighbour *n)
{
	const struct net_device___link *dev = (const void *)PLAIN(n, dev);

	return !PLAIN(dev, addr_len);
}

/* Is this the address that is known? NULL: none was told, which means the same. */
static __always_inline bool neigh_same(const struct neighbour *n, const __u8 *address)
{
	const struct net_device___link *dev = (const void *)PLAIN(n, dev);
	__u64 told[8] = {}, known[8] = {};
	__u32 length = PLAIN(dev, addr_len);	/* MAX_ADDR_LEN: 32 */

	length &= sizeof(told) - 1;
	barrier_var(length);	/* the verifier has seen its bounds: the next two shall take it */
	if (!address || !length)
		return true;
	bpf_probe_read_kernel(told, length, address);
	bpf_probe_read_kernel(known, length, n->ha);
	return told[0] == known[0] && told[1] == known[1] && told[2] == known[2] &&
	       told[3] == known[3];
}

/* An entry that is asked whether it is still there is told to have this state. */
static __always_inline void neigh_heard(__u64 key, const struct neighbour *n, struct neigh *row,
					const unsigned char *address, __u8 state, __u32 flags)
{
	bool same = neigh_same(n, address);
	__u64 now = bpf_ktime_get_ns();
	struct neigh_asked asked;

	/* what __neigh_update() does not take as a change of state */
	if (state & NUD_VALID && !(flags & UPDATE_ADMIN) &&
	    (same ? !(state & NUD_REACHABLE) : !(flags & UPDATE_OVERRIDE)))
		return;
	if (!neigh_take(key, &asked) || !(state & NUD_REACHABLE) || flags & UPDATE_ADMIN)
		return;
	COUNT(row, confirms[NEIGH_CONFIRMED], 1);
	SPAN_ADD(row, confirming, now - asked.since);
}

/* Its packets are dropped. */
static __always_inline void neigh_removed(__u64 key, const struct neighbour *n, struct neigh *row)
{
	__u32 length = PLAIN(n, arp_queue.qlen);
	struct neigh_asked asked;

	if (!neigh_take(key, &asked) || asked.probing)
		return;
	COUNT(row, ends[NEIGH_DELETED], 1);
	/* they may be gone already (neigh_flush_dev(), 6.1 to 6.18) */
	if (length)
		neigh_settled(length, &asked, row);
	COUNT(row, drops[NEIGH_DROP_DELETED], length ?: asked.packets - asked.evicted);
}

SEC("tp_btf/neigh_cleanup_and_release")
int BPF_PROG(neigh_released, struct neighbour *entry, int unused)
{
	const struct neighbour *n = ARGUMENT(entry);
	__u64 key = (__u64)n;
	struct neigh *row = neigh_row_of(n);

	if (row)
		neigh_removed(key, n, row);
	return 0;
}

/* At its beginning: the entry is as it was. */
SEC("tp_btf/neigh_update")
int BPF_PROG(neigh_told, struct neighbour *entry, const __u8 *address, __u8 new, __u32 flags)
{
	const struct neighbour *n = ARGUMENT(entry);
	struct neigh *row = neigh_row_of(n);
	__u8 state = PLAIN(n, nud_state);
	__u64 key = (__u64)n;

	if (!row || flags & (UPDATE_USE | UPDATE_MANAGED))
		return 0;
	if (state & NUD_PROBE)
		neigh_heard(key, n, row, address, new, flags);
	else if (new & NUD_FAILED)
		neigh_removed(key, n, row);
	else if (state & NUD_INCOMPLETE && new & NUD_VALID && (address || neigh_bare(n)))
		neigh_resolved(key, n, row, flags & UPDATE_ADMIN);
	bpf_map_delete_elem(&neigh_births, &key);
	return 0;
}

/* What was asked is given up. */
static __always_inline void neigh_failed(__u64 key, struct neigh *row)
{
	struct neigh_asked last;

	if (!neigh_take(key, &last))
		return;
	if (last.probing) {
		COUNT(row, confirms[NEIGH_SILENT], 1);
	} else {
		COUNT(row, ends[NEIGH_FAILED], 1);
		COUNT(row, drops[NEIGH_DROP_FAILED], last.packets - last.evicted);
	}
}

/* At its end. */
SEC("tp_btf/neigh_timer_handler")
int BPF_PROG(neigh_timed, struct neighbour *entry, int unused)
{
	const struct neighbour *n = ARGUMENT(entry);
	struct neigh *row = neigh_row_of(n);
	__u8 state = PLAIN(n, nud_state);
	__u64 key = (__u64)n;
	struct neigh_asked *asked;

	if (!row)
		return 0;
	asked = bpf_map_lookup_elem(&neigh_asking, &key);
	if (state & NUD_INCOMPLETE) {
		/* not where it is begun anew: its first packet will tell, if it has not */
		if (!asked && !neigh_prompt(n))
			asked = neigh_begin(key, &(struct neigh_asked){
				.packets = PLAIN(n, arp_queue.qlen),
				.updated = PLAIN(n, updated), .probes = neigh_probes(n) - 1 });
		if (asked && asked->updated == PLAIN(n, updated))
			neigh_solicited(n, asked, row);
		else if (asked)
			neigh_failed(key, row);
	} else if (state & NUD_PROBE) {
		COUNT(row, probes, 1);
		if (!asked)
			neigh_begin(key, &(struct neigh_asked){
				.since = bpf_ktime_get_ns(), .probing = true });
	} else if (asked && state & NUD_FAILED) {
		/* the first question may have been sent last, by a call that was put aside */
		if (!asked->probing)
			neigh_solicited(n, asked, row);
		neigh_failed(key, row);
	} else if (asked) {
		bpf_map_delete_elem(&neigh_asking, &key);
	}
	return 0;
}

/*
 * For each packet while there is no address, and the first that finds an old one
 * (neigh_event_send(), 6.1 to 6.18). `waits`: for its address.
 */
SEC("tp_btf/neigh_event_send_done")
int BPF_PROG(neigh_waits, struct neighbour *entry, int waits)
{
	const struct neighbour *n = ARGUMENT(entry);
	struct neigh_asked *asked;
	__u64 key = (__u64)n;
	struct neigh *row;
	unsigned long updated;
	__u8 state;

	if (!waits)
		return 0;
	row = neigh_row_of(n);
	if (!row)
		return 0;
	/* first: a timer that gives up sets it last */
	updated = PLAIN(n, updated);
	state = PLAIN(n, nud_state);
	if (state & NUD_FAILED) {	/* in the meantime */
		COUNT(row, waited, 1);
		COUNT(row, drops[NEIGH_DROP_FAILED], 1);
	}
	if (!(state & NUD_INCOMPLETE))	/* neigh_resolved() has counted it */
		return 0;
	asked = bpf_map_lookup_elem(&neigh_asking, &key);
	/* another CPU has given up, and is yet to tell; this is about the next time */
	if (asked && asked->updated != updated) {
		neigh_failed(key, row);
		asked = NULL;
	}
	if (!asked)
		asked = neigh_ask(key, n);
	if (!asked)
		return 0;
	neigh_solicited(n, asked, row);
	neigh_queued(n, asked, row);
	return 0;
}

SEC("tp_btf/neigh_event_send_dead")
int BPF_PROG(neigh_dead, struct neighbour *entry, int unused)
{
	struct neigh *row = neigh_row_of(ARGUMENT(entry));

	if (row)
		COUNT(row, drops[NEIGH_DROP_DEAD], 1);
	return 0;
}

/* `entry`: NULL: there is no room, or no memory. It has no device yet. */
SEC("tp_btf/neigh_create")
int BPF_PROG(neigh_made, struct neigh_table *table, struct net_device *device, const void *address,
	     const struct neighbour *entry)
{
	const struct net_device *dev = ARGUMENT(device);
	__u64 key = (__u64)ARGUMENT(entry);
	struct neigh_birth birth;
	struct neigh *row;

	if (!net_is_ours(PLAIN(dev, nd_net.net)))
		return 0;
	if (key) {
		birth.ns = bpf_ktime_get_ns();
		birth.jiffies = bpf_jiffies64();
		bpf_map_update_elem(&neigh_births, &key, &birth, BPF_ANY);
		bpf_map_delete_elem(&neigh_answers, &key);
		return 0;
	}
	row = neigh_row(dev, ARGUMENT(table));
	if (row)
		COUNT(row, refused, 1);
	return 0;
}

#endif
