/* SPDX-License-Identifier: GPL-2.0 */
/* What is done with an event: filtered, then counted under its key, or sent to user space. */
#ifndef NICPROBE_PROBES_ASK_BPF_H
#define NICPROBE_PROBES_ASK_BPF_H

#include "probes/packets.bpf.h"
#include "probes/since.bpf.h"

/* Sized before it is loaded: its key to query.key_size, its value to query.slots. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 32768);
	__uint(key_size, sizeof(struct query_key));
	__uint(value_size, sizeof(struct aggregate));
} aggregates SEC(".maps");

/* The same without a key, by place. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PLACES);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct aggregate));
} alone SEC(".maps");

/* One value of the same size, all zeros: a new aggregate. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct aggregate));
} fresh SEC(".maps");

/* When drivers took the packets that they have, by address: for nic:::tx-done. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, __u64);
} in_driver SEC(".maps");

/* A member of 1 to 8 bytes as a number. */
static __always_inline __u64 number(const struct probe_event *e, __u32 offset, __u32 size)
{
	const void *at = (void *)e + offset;

	switch (size) {
	case 1:
		return *(__u8 *)at;
	case 2:
		return *(__u16 *)at;
	case 4:
		return *(__u32 *)at;
	default:
		return *(__u64 *)at;
	}
}

static __always_inline __s64 signed_number(const struct probe_event *e, __u32 offset, __u32 size,
					   bool is_signed)
{
	__u64 n = number(e, offset, size);

	return is_signed && size == 4 ? (__s32)n : (__s64)n;
}

static __always_inline bool compare(__s64 a, __u8 op, __s64 b, bool is_signed)
{
	bool less = is_signed ? a < b : (__u64)a < (__u64)b;

	switch (op) {
	case OP_EQ:
		return a == b;
	case OP_NE:
		return a != b;
	case OP_LT:
		return less;
	case OP_LE:
		return less || a == b;
	case OP_GT:
		return !less && a != b;
	default:
		return !less;
	}
}

/* Of a member of 16 bytes, by halves. */
static __always_inline bool halves_hold(const volatile struct term *t, __u64 first, __u64 second)
{
	bool same = (first & t->mask[0]) == t->val[0] && (second & t->mask[1]) == t->val[1];

	return same == (t->op == OP_EQ);
}

static __always_inline bool value_holds(const volatile struct term *t, __s64 value)
{
	if (t->op == OP_ANY || t->op == OP_NONE)
		return !(value & t->mask[0]) == (t->op == OP_NONE);
	return compare(value & t->mask[0], t->op, t->val[0], t->is_signed);
}

static __always_inline bool term_holds(const struct probe_event *e, const volatile struct term *t)
{
	if (!(e->have >> t->group & 1))
		return false;
	if (t->size == 16) {
		const __u64 *half = (void *)e + t->offset;

		return halves_hold(t, half[0], half[1]);
	}
	return value_holds(t, signed_number(e, t->offset, t->size, t->is_signed));
}

/* Does the event pass the filter? Conjunctions of terms; one of them must hold. */
static __always_inline bool filter_holds(const struct probe_event *e)
{
	bool holds = true;

	if (!query.nr_terms)
		return true;
#pragma unroll
	for (__u32 i = 0; i < QUERY_TERMS; i++) {
		if (i >= query.nr_terms)
			break;
		holds = holds && term_holds(e, &query.term[i]);
		if (query.term[i].ends) {
			if (holds)
				return true;
			holds = true;
		}
	}
	return false;
}

static __always_inline void key_make(const struct probe_event *e, struct query_key *k)
{
#pragma unroll
	for (__u32 i = 0; i < QUERY_KEYS; i++) {
		if (i >= query.nr_parts)
			break;
		if (!part_copy(e, &query.part[i], k->bytes + query.part[i].at))
			k->absent |= 1ull << i;
	}
}

/* The slot of quantize: 0 in the middle, and powers of two on both sides. */
static __always_inline __u32 quantize_slot(__s64 value)
{
	__u64 size = value < 0 ? -(__u64)value : value;
	__u32 bits = 0;

	if (!size)
		return QUANTIZE_ZERO;
#pragma unroll
	for (int step = 32; step; step /= 2)
		if (size >> step) {
			size >>= step;
			bits += step;
		}
	return value < 0 ? QUANTIZE_ZERO - 1 - bits : QUANTIZE_ZERO + 1 + bits;
}

static __always_inline __u32 lquantize_slot(__s64 value)
{
	if (value < query.low)
		return 0;
	value = (__u64)(value - query.low) / (__u64)query.step;
	return value >= query.slots - 2 ? query.slots - 1 : value + 1;
}

/* Nothing else counts in this row: it is of this CPU and of this place. */
static __always_inline void aggregate_add(struct aggregate *a, __s64 value)
{
	a->n++;
	if (query.aggregation == AGG_COUNT)
		return;
	a->sum += value;
	if (query.aggregation == AGG_QUANTIZE || query.aggregation == AGG_LQUANTIZE) {
		__u32 slot = query.aggregation == AGG_QUANTIZE ? quantize_slot(value) :
								 lquantize_slot(value);

		if (slot < query.slots)
			a->slot[slot]++;
	}
	if (query.aggregation == AGG_MIN && INT64_MAX - (__u64)value > a->below)
		a->below = INT64_MAX - (__u64)value;
	if (query.aggregation == AGG_MAX && (__u64)value - (__u64)INT64_MIN > a->above)
		a->above = (__u64)value - (__u64)INT64_MIN;
}

static __always_inline struct aggregate *aggregate_of(const struct probe_event *e)
{
	struct aggregate *a;
	struct query_key k = { .absent = (__u64)e->place << KEY_PLACE };
	void *zero;

	if (!query.nr_parts)
		return bpf_map_lookup_elem(&alone, &(__u32){ e->place });
	key_make(e, &k);
	a = bpf_map_lookup_elem(&aggregates, &k);
	if (a)
		return a;
	zero = bpf_map_lookup_elem(&fresh, &(__u32){ 0 });
	if (zero)
		bpf_map_update_elem(&aggregates, &k, zero, BPF_NOEXIST);
	return bpf_map_lookup_elem(&aggregates, &k);
}

static __always_inline void aggregate_event(const struct probe_event *e)
{
	struct aggregate *a;
	__s64 value = 0;

	if (query.aggregation != AGG_COUNT) {
		if (!(e->have >> query.measure.group & 1))
			return;
		value = signed_number(e, query.measure.offset, query.measure.size,
				      query.measure.is_signed);
	}
	a = aggregate_of(e);
	if (a)
		aggregate_add(a, value);
	else
		lose(LOST_KEY);
}

static __always_inline bool begins(const struct probe_event *e)
{
	if (RAW_IS(e->probe))
		return e->begins;
	return query.since[e->probe / 64 % PROBE_WORDS] >> e->probe % 64 & 1;
}

/*
 * Everything that is done with an event whose members are filled. Not static, so that it is
 * verified once and not for each probe.
 */
__noinline int event_take(struct probe_event *e)
{
	bool timed = SINCE || query.delta, first = query.filter_need & HAVE(SINCE);

	if (!e)
		return 0;
	if (timed || query.aggregation == AGG_PRINT)
		e->timestamp = bpf_ktime_get_ns();
	e->cpu = bpf_get_smp_processor_id();
	if (SINCE && begins(e)) {
		time_begin(e);
		return 0;
	}
	if (timed && first && !time_end(e))
		return 0;
	if (!e->filtered && !filter_holds(e))
		return 0;
	if (timed && !first && !time_end(e))
		return 0;
	if (NEED_ANY(STACKS) && e->stack_lost)
		lose(LOST_STACK);
	if (query.aggregation != AGG_PRINT)
		aggregate_event(e);
	else if (query.snaplen)
		packet_send(e);
	else if (bpf_ringbuf_output(&ring, e, sizeof(*e), 0))
		lose(LOST_EVENT);
	return 0;
}

/*
 * The filter, before the members are filled that it does not ask for. False: the event is not
 * wanted. Where the filter asks for more than these, or --since has probes of its own, it waits.
 */
static __always_inline bool event_early(struct probe_event *e)
{
	if (!query.early)
		return true;
	e->filtered = 1;
	return filter_holds(e);
}

/* Is the event of the namespace and the interface that are asked for? */
static __always_inline bool event_ours(const struct net *net, const struct net_device *dev)
{
	if (query.netns && (!net || net->net_cookie != query.netns))
		return false;
	return !query.ifindex || (dev && dev->ifindex == (int)query.ifindex);
}

/* A place for such an event; NULL: it is of another, or there is no place. */
static __always_inline struct probe_event *event_of(const struct net *net,
						    const struct net_device *dev, bool preemptible)
{
	return event_ours(net, dev) ? event_begin(net, preemptible) : NULL;
}

/* Reports the event as this probe, if this source is to serve it. */
#define FIRE(e, of, name) do {							\
	if (SERVES(of, BIT(name))) {						\
		(e)->source = SOURCE_##of;					\
		(e)->probe = PROBE_##name;					\
		event_take(e);							\
	}									\
} while (0)

#endif
