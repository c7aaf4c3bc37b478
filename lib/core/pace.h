/* SPDX-License-Identifier: GPL-2.0 */
/* Which packets a meter follows, if not all: the maths of 1 in N, for BPF programs and C. */
#ifndef NICPROBE_PACE_H
#define NICPROBE_PACE_H

#include <linux/types.h>

/*
 * A meter that follows single packets may follow fewer of them: a fixed 1 in N, or so many that
 * what this takes stays below a limit. In the latter case each CPU has its own N, a power of two:
 * it is set anew for each slice of time, by the packets of the slice before; and a slice in which
 * more packets come than expected has credit for so many only, then N grows at once. As long as
 * all are followed, what a slice did not need is credit for the next ones, up to `burst`: a short
 * burst is followed whole.
 */
#define PACE_MAP	"pace"		/* per CPU and meter: struct pace */
#define PACE_PLAN_MAP	"pace_plan"	/* by meter: struct pace_plan */

#define PACE_RATE	10000	/* packets that are followed per second and CPU, without a budget */
#define PACE_SHIFT_MOST	16		/* N is 2^16 at most: if that is too often… */
#define PACE_PAUSED	(PACE_SHIFT_MOST + 1)	/* …none is followed, and the shift is this */
#define PACE_GROWS	2		/* N is multiplied by 2^2 when a slice has no credit left */

struct pace {
	/* Packets: followed; passed by; and of the latter those while none was followed. */
	__u64 taken, passed, paused;
	/*
	 * The rest decides which packets are followed, and is no figure. If a task is preempted
	 * here by another that also comes here, a word may lose what one of them wrote: a packet
	 * more or less is followed.
	 */
	__u32 left;		/* packets to pass by before the next is followed */
	__u32 shift;		/* adapting: N is 1 << shift */
	__u32 since, ticks;	/* the slice: from this tick on, and how long; 0: there was none */
	__u32 before;		/* the lower half of taken + passed when it began */
	__u32 credit;		/* packets that may still be followed before N grows */
};

/* What a meter may take. The unit of time is arbitrary: they have one in common. */
struct pace_plan {
	__u64 room;		/* that following may take in each tick */
	__u32 ticks;		/* of a slice */
	__u32 take, pass;	/* what it takes to follow a packet, and to pass it by */
	__u32 burst;		/* packets: the most credit that slices may leave */
};

#define PACE_INLINE	static inline __attribute__((always_inline))

/* Packets to pass by before the next is followed: from 0 to 2 N - 2, N - 1 on average. */
PACE_INLINE __u32 pace_gap(__u32 n, __u32 random)
{
	return n > 1 ? ((__u64)random * (2 * (__u64)n - 1)) >> 32 : 0;
}

/* How many of its lower PACE_PAUSED bits are in use; without a branch, as in log2_of(). */
PACE_INLINE __u32 pace_bits(__u64 v)
{
	__u32 bits = 0;

	for (int bit = 0; bit < PACE_PAUSED; bit++) {
		__u64 is_set = -(v >> bit);

		asm("" : "+r"(is_set));
		bits += is_set >> 63;
	}
	return bits;
}

/* The least shift at which so many packets take no more than `room`. */
PACE_INLINE __u32 pace_shift(const struct pace_plan *plan, __u64 room, __u32 packets)
{
	__u64 passing = (__u64)packets * plan->pass, taking = (__u64)packets * plan->take;

	if (passing >= room)
		return packets ? PACE_PAUSED : 0;
	/* taking >> shift <= room - passing */
	return pace_bits(taking / (room - passing + 1));
}

/* From now on N is 1 << shift. */
PACE_INLINE void pace_set(struct pace *p, __u32 shift, __u32 random)
{
	p->shift = shift;
	p->left = shift < PACE_PAUSED ? pace_gap(1u << shift, random) : ~0u;
}

/* A slice has ended. An idle CPU notices at the next packet: then it was long. */
PACE_INLINE void pace_slice(struct pace *p, const struct pace_plan *plan, __u32 now, __u32 random)
{
	__u32 seen = p->taken + p->passed, packets = seen - p->before, ticks = now - p->since;
	__u32 left = plan->burst && !p->shift && p->credit > 1 ? p->credit : 0, shift;
	__u64 credit, most;

	if (ticks > 1 << 12)
		ticks = 1 << 12;
	shift = left ? 0 : pace_shift(plan, plan->room * ticks, packets);
	if (shift != p->shift)
		pace_set(p, shift, random);
	credit = plan->take ? plan->room * plan->ticks / plan->take : 0;
	if (plan->burst && !shift && plan->take) {
		most = plan->burst > credit ? plan->burst : credit;
		credit = left + plan->room * ticks / plan->take;
		credit = credit < most ? credit : most;
	}
	p->credit = credit ?: 1;
	p->since = now;
	p->ticks = plan->ticks;
	p->before = seen;
}

/* A packet is followed: when is the next one? */
PACE_INLINE void pace_next(struct pace *p, const struct pace_plan *plan, __u32 random)
{
	__u32 shift = p->shift;
	__u64 credit;

	if (p->credit > 1) {
		p->credit--;
		p->left = shift < PACE_PAUSED ? pace_gap(1u << shift, random) : ~0u;
		return;
	}
	credit = plan->take ? plan->room * plan->ticks / plan->take : 0;
	p->credit = credit >> PACE_GROWS ?: 1;
	shift += PACE_GROWS;
	pace_set(p, shift < PACE_PAUSED ? shift : PACE_PAUSED, random);
}

#endif
