/* SPDX-License-Identifier: GPL-2.0 */
/* Entries of the neighbour tables: what is read of them, and what is remembered of each. */
#ifndef NICPROBE_NEIGH_ENTRY_BPF_H
#define NICPROBE_NEIGH_ENTRY_BPF_H

#include "bpf/neigh/neigh.h"
#include "bpf/host/socket.bpf.h"

enum nud {			/* include/uapi/linux/neighbour.h */
	NUD_INCOMPLETE = 0x01, NUD_REACHABLE = 0x02, NUD_PROBE = 0x10, NUD_FAILED = 0x20,
	NUD_VALID = 0xde,	/* an address is known: include/net/neighbour.h */
};

enum neigh_flag {		/* include/net/neighbour.h, 5.16 to 6.18: NEIGH_UPDATE_F_… */
	UPDATE_OVERRIDE = 0x01, UPDATE_USE = 0x08, UPDATE_MANAGED = 0x10, UPDATE_ADMIN = 0x80,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct neigh_table {
	int family;
};

struct neigh_parms {
	int data[2];		/* the second is NEIGH_VAR_UCAST_PROBES, 3.14 to 6.18 */
};

struct sk_buff_head___length {
	struct sk_buff *next;
	__u32 qlen;
};

struct neighbour {
	struct neigh_table *tbl;
	struct neigh_parms *parms;
	unsigned long updated;
	struct sk_buff_head___length arp_queue;
	struct { int counter; } probes;
	__u8 nud_state;
	unsigned char ha[32];
	struct net_device *dev;
};

struct net_device___link {
	unsigned char addr_len;
};

#pragma clang attribute pop

REMOTE_MAP(neigh);
static const struct neigh neigh_none;

/* Of an entry whose address is asked for, or of one that is asked whether it is still there. */
struct neigh_asked {
	__u64 since;		/* CLOCK_MONOTONIC ns; 0: before us */
	__u64 packets;		/* that have waited */
	__u64 evicted;		/* of these, by others */
	__u64 probing;		/* its address is known */
	__u64 updated;		/* jiffies: by that of the entry one is told from the next */
	__u64 probes;		/* of the kernel's count, those that ours has */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, REMOTES);
	__type(key, __u64);	/* the address of its struct: taken once it is released */
	__type(value, struct neigh_asked);
} neigh_asking SEC(".maps");

struct neigh_birth {
	__u64 ns, jiffies;
};

/*
 * Entries just made, for the packet that had one made begins to wait within microseconds. Nobody
 * tells of one that is given up before it is in its table, so old ones make room for new ones.
 */
MAP(LRU_HASH, neigh_births, __u64, struct neigh_birth, 4096);

/*
 * When entries were last told their address, in jiffies: the event comes before the kernel looks
 * who is first, so two answers on two CPUs may both find none (__neigh_update(), 6.1 to 6.18).
 */
MAP(LRU_HASH, neigh_answers, __u64, __u64, 4096);

/* Ticks that may pass from an event to the program that hears of it: softirqs may come between. */
#define NEIGH_PROMPT	20

static __always_inline struct neigh *neigh_row(const struct net_device *dev,
					       const struct neigh_table *table)
{
	struct neigh_key key = {}, others = {};

	bpf_probe_read_kernel_str(key.device, sizeof(key.device), dev->name);
	key.family = PLAIN(table, family);
	return REMOTE_ROW(&neigh, &key, &others, &neigh_none, METER_neigh);
}

/* The row of an entry. NULL: it is not ours, or there is no room. */
static __always_inline struct neigh *neigh_row_of(const struct neighbour *n)
{
	const struct net_device *dev = PLAIN(n, dev);

	return dev && net_is_ours(PLAIN(dev, nd_net.net)) ? neigh_row(dev, PLAIN(n, tbl)) : NULL;
}

/* What is known of it, which is forgotten. Two CPUs may want to end it: one of them does. */
static __always_inline bool neigh_take(__u64 key, struct neigh_asked *asked)
{
	struct neigh_asked *found = bpf_map_lookup_elem(&neigh_asking, &key);

	if (!found)
		return false;
	*asked = *found;
	return !bpf_map_delete_elem(&neigh_asking, &key);
}

/* Was it made by the call that found its address missing? Then when. */
static __always_inline __u64 neigh_born(__u64 key, const struct neighbour *n)
{
	const struct neigh_birth *birth = bpf_map_lookup_elem(&neigh_births, &key);

	return birth && PLAIN(n, updated) - birth->jiffies <= 1 ? birth->ns : 0;
}

/* Has the kernel begun to ask just now? `updated` is that moment. */
static __always_inline bool neigh_prompt(const struct neighbour *n)
{
	return bpf_jiffies64() - PLAIN(n, updated) <= NEIGH_PROMPT;
}

/* Is this the first answer to what is asked now? No entry is asked for again so soon. */
static __always_inline bool neigh_answers_first(__u64 key)
{
	__u64 now = bpf_jiffies64(), was, *last;

	if (!bpf_map_update_elem(&neigh_answers, &key, &now, BPF_NOEXIST))
		return true;
	last = bpf_map_lookup_elem(&neigh_answers, &key);
	was = last ? *last : 0;
	/* `was` may be another CPU's, a tick later */
	return !last || ((__s64)(now - was) > NEIGH_PROMPT &&
			 __sync_val_compare_and_swap(last, was, now) == was);
}

/* With this many the count of its probes begins (__neigh_event_send(), 6.1 to 6.18). */
static __always_inline __u64 neigh_unicast(const struct neighbour *n)
{
	const struct neigh_parms *parms = PLAIN(n, parms);

	return PLAIN(parms, data[1]);
}

static __always_inline __u64 neigh_probes(const struct neighbour *n)
{
	return PLAIN(n, probes.counter);
}

#endif
