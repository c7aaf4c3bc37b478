/* SPDX-License-Identifier: GPL-2.0 */
/* Does a meter follow this packet? All, a fixed 1 in N, or as many as it may: lib/core/pace.h. */
#ifndef NICPROBE_SAMPLED_BPF_H
#define NICPROBE_SAMPLED_BPF_H

#include "lib/core/meter.bpf.h"
#include "lib/core/pace.h"

MAP(PERCPU_ARRAY, pace, __u32, struct pace, NR_METERS);
MAP(ARRAY, pace_plan, __u32, struct pace_plan, NR_METERS);

/*
 * The counts must stay exact where another one may count at the same time: where programs are
 * preempted; and skblife counts where a driver delivers, which may be a hard interrupt.
 */
#define PACE_ADD(id, word)						\
	(is_set(preempts) || (id) == METER_skblife ?			\
	 (void)__sync_fetch_and_add(&(word), 1) : (void)((word)++))

static __always_inline bool adapts(enum meter_id id)
{
	return TOLD(adapts) & 1ull << id;
}

/* May it pass packets by at all? */
static __always_inline bool thins(enum meter_id id)
{
	return adapts(id) || TOLD(one_in[id]) > 1;
}

/* Not static: verified once, and not for each caller. Weak: one binary may link several copies. */
__noinline __weak int pace_ends_slice(__u32 meter)
{
	struct pace *p = row_at(&pace, meter);
	struct pace_plan *plan = row_at(&pace_plan, meter);

	if (p && plan)
		pace_slice(p, plan, bpf_jiffies64(), bpf_get_prandom_u32());
	return 0;
}

__noinline __weak int pace_takes(__u32 meter)
{
	struct pace_plan *plan;
	struct pace *p;

	if (meter >= NR_METERS)
		return 0;
	p = row_at(&pace, meter);
	plan = row_at(&pace_plan, meter);
	if (!p || !plan)
		return 0;
	if (config.adapts >> meter & 1)
		pace_next(p, plan, bpf_get_prandom_u32());
	else
		p->left = pace_gap(config.one_in[meter], bpf_get_prandom_u32());
	__sync_fetch_and_add(&p->taken, 1);
	return 0;
}

/*
 * Is this packet one of those that the meter follows? An adapting meter looks at the tick of the
 * clock, which is a word in memory, for each packet.
 */
static __always_inline bool sampled(enum meter_id id)
{
	struct pace *p;
	__u32 left;

	if (!thins(id))
		return true;
	p = row_at(&pace, id);
	if (!p)
		return false;
	if (adapts(id) && (__u32)bpf_jiffies64() - p->since >= p->ticks)
		pace_ends_slice(id);
	left = p->left;
	if (left) {
		p->left = left - 1;
		PACE_ADD(id, p->passed);
		if (adapts(id) && p->shift == PACE_PAUSED)
			PACE_ADD(id, p->paused);
		return false;
	}
	pace_takes(id);
	return true;
}

#endif
