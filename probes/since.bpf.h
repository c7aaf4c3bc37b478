/* SPDX-License-Identifier: GPL-2.0 */
/* The time from one event to another with the same key: --since, --delta. */
#ifndef NICPROBE_PROBES_SINCE_BPF_H
#define NICPROBE_PROBES_SINCE_BPF_H

#include "probes/places.bpf.h"

/* The beginning of a time, by the key that --on or --delta names. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, struct since_key);
	__type(value, __u64);
} begun SEC(".maps");

#define SINCE	(query.since[0] | query.since[1])

/* Copies a part of a key; an absent one is all zeros, and its bit in `absent` is set. */
static __always_inline bool part_copy(const struct probe_event *e, const volatile struct part *p,
				      void *to)
{
	const void *from = (void *)e + p->offset;
	bool there = e->have >> p->group & 1;

	if (!there)
		return false;
	switch (p->size) {
	case 1:
		*(__u8 *)to = *(__u8 *)from;
		break;
	case 2:
		*(__u16 *)to = *(__u16 *)from;
		break;
	case 4:
		*(__u32 *)to = *(__u32 *)from;
		break;
	case 6:
		__builtin_memcpy(to, from, 6);
		break;
	case 16:
		__builtin_memcpy(to, from, 16);
		break;
	default:
		*(__u64 *)to = *(__u64 *)from;
	}
	return true;
}

/* What times belong to; false: the event lacks a part of it. */
static __always_inline bool on_make(const struct probe_event *e, struct since_key *k)
{
#pragma unroll
	for (__u32 i = 0; i < ON_PARTS; i++)
		if (i < query.nr_on && !part_copy(e, &query.on[i], k->bytes + 16 * i))
			return false;
	return true;
}

static __always_inline void time_begin(const struct probe_event *e)
{
	__u64 now = e->timestamp;	/* 6.1 takes no value from there */
	struct since_key k = {};

	if (on_make(e, &k) && bpf_map_update_elem(&begun, &k, &now, BPF_ANY))
		lose(LOST_TIME);
}

static __always_inline void delta_put(struct probe_event *e, __u64 ns)
{
	e->delta_ns = ns;
	e->have |= HAVE(SINCE);
}

#define DELTA_TRIES	8

/*
 * Sets delta_ns, and this event is the last one from now on. Two CPUs may have events at once: each
 * moment counts in one of them. If the later one was quicker it stays, and no time has passed.
 */
static __always_inline void time_passes(struct probe_event *e, const struct since_key *k)
{
	__u64 *last = bpf_map_lookup_elem(&begun, k), now = e->timestamp, was, found;

	if (!last) {
		if (!bpf_map_update_elem(&begun, k, &now, BPF_NOEXIST))
			return;		/* there was none before */
		last = bpf_map_lookup_elem(&begun, k);
	}
	was = last ? *last : 0;
	for (int i = 0; last && i < DELTA_TRIES; i++) {
		if (was >= now) {
			delta_put(e, 0);
			return;
		}
		found = __sync_val_compare_and_swap(last, was, now);
		if (found == was) {
			delta_put(e, now - was);
			return;
		}
		was = found;
	}
	lose(LOST_TIME);
}

/* Sets delta_ns. False: nothing began, so there is nothing to tell. */
static __always_inline bool time_end(struct probe_event *e)
{
	struct since_key k = {};
	__u64 *began, since;

	if (!on_make(e, &k))
		return false;
	if (query.delta) {
		time_passes(e, &k);
		return true;
	}
	began = bpf_map_lookup_elem(&begun, &k);
	since = began ? *began : 0;
	if (!began || since > e->timestamp)	/* another CPU has begun the next time meanwhile */
		return false;
	delta_put(e, e->timestamp - since);
	return !bpf_map_delete_elem(&begun, &k);
}

#endif
