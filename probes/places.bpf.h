/* SPDX-License-Identifier: GPL-2.0 */
/* What programs are asked for, and the memory in which they make events. */
#ifndef NICPROBE_PROBES_PLACES_BPF_H
#define NICPROBE_PROBES_PLACES_BPF_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <stdbool.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "lib/core/kernel.bpf.h"
#include "probes/probe_event.h"
#include "probes/query.h"

/* Constants: the verifier removes the code of what was not asked for. */
const volatile struct query query = {};
/* A bit for each stable probe, those of query.since, too. */
const volatile __u64 serves[NR_SOURCES][PROBE_WORDS] = {};
/* The preempt count of a CPU, from its run queue. */
const volatile __u64 preempt_count = 0;
const volatile bool counts_preempts = false;
const volatile bool preempts = false;	/* release_preempts() */

#define IFF_LOOPBACK	8
#define NETDEV_TX_BUSY	0x10
#define NF_ACCEPT	1
#define PF_INET		2

#define INT64_MAX	0x7fffffffffffffffll
#define INT64_MIN	(-INT64_MAX - 1)

#define HAVE(group)	(1ull << GROUP_##group)
#define NEED(group)	(query.need & HAVE(group))
#define NEED_ANY(bits)	(query.need & (bits))
/* Groups that are filled now: those of the filter first, then the others. */
#define NOW(group)	(now & HAVE(group))
#define NOW_ANY(bits)	(now & (bits))
#define FIRST		(query.early ? query.early : query.need)
#define SECOND		(query.early ? query.need & ~query.early : 0)
#define NEEDS_IP	(HAVE(ADDR) | HAVE(IP) | HAVE(IPV4) | HAVE(IPV6) | HAVE(PORTS) | \
			 HAVE(TCPPORTS) | HAVE(TCP) | HAVE(UDP) | HAVE(ICMP) | HAVE(SCTP))
#define STACKS		(HAVE(KSTACK) | HAVE(USTACK))
#define BIT(probe)	((unsigned __int128)1 << PROBE_##probe)
#define ANY_PROBE	(~(unsigned __int128)0)
#define SERVES(source, bits)	(serves[SOURCE_##source][0] & (__u64)(bits) || \
				 serves[SOURCE_##source][1] & (__u64)((bits) >> 64))

/*
 * Events are made in memory of their CPU, as the stack is too small. Programs interrupt each other:
 * each takes a place of its own. Those that only interrupts interrupt end in the reverse order in
 * which they began, and count their depth. Where a task may take the place of another within a
 * program, they mark which places are taken.
 */
#define NESTED		4
#define PLACES		(2 * NESTED)
struct places {
	__u64 taken;		/* 1 << place, of the second half */
	__u64 depth;		/* the places taken of the first half */
	struct probe_event event[PLACES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct places);
} places SEC(".maps");

/* By enum loss. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NR_LOSSES);
	__type(key, __u32);
	__type(value, __u64);
} lost SEC(".maps");

static __always_inline void lose(enum loss which)
{
	__u64 *n = bpf_map_lookup_elem(&lost, &(__u32){ which });

	if (n)
		__sync_fetch_and_add(n, 1);
}

/* May a task be put aside for another within this program? Those of tracepoints: since 7.0. */
#define TRACEPOINT	preempts
#define PREEMPTIBLE	true

/*
 * Takes a place that nobody has marked; PLACES: there is none. Not static: so the verifier knows
 * the result as any number, and follows the rest once and not for each place.
 */
__noinline __u32 place_mark(void)
{
	struct places *p = bpf_map_lookup_elem(&places, &(__u32){ 0 });

	if (!p)
		return PLACES;
	for (__u32 i = NESTED; i < PLACES; i++)
		if (!(p->taken & 1ull << i) &&
		    !(__sync_fetch_and_or(&p->taken, 1ull << i) & 1ull << i))
			return i;
	return PLACES;
}

static __always_inline __u64 place_take(struct places *p, bool preemptible)
{
	__u64 depth;

	if (preemptible)
		return place_mark();
	depth = p->depth;
	if (depth >= NESTED)
		return PLACES;
	p->depth = depth + 1;
	return depth;
}

/* A place for an event, with its BASE but for the probe and the moment; NULL: there is none. */
static __always_inline struct probe_event *event_begin(const struct net *net, bool preemptible)
{
	struct places *p = bpf_map_lookup_elem(&places, &(__u32){ 0 });
	__u64 i = p ? place_take(p, preemptible) : PLACES;
	struct probe_event *e;

	if (!p)
		return NULL;
	if (i >= PLACES) {
		lose(LOST_NESTED);
		return NULL;
	}
	barrier_var(i);		/* the verifier needs the bound on this variable, not on a copy */
	e = &p->event[i & (PLACES - 1)];
	e->have = HAVE(BASE);
	e->netns = net ? net->net_cookie : 0;
	e->place = i;
	e->filtered = 0;
	e->stack_lost = 0;
	return e;
}

static __always_inline void event_end(const struct probe_event *e)
{
	struct places *p = bpf_map_lookup_elem(&places, &(__u32){ 0 });

	if (!p)
		return;
	if (e->place < NESTED)
		p->depth--;
	else
		__sync_fetch_and_and(&p->taken, ~(1ull << (e->place & (PLACES - 1))));
}

#endif
