/* SPDX-License-Identifier: GPL-2.0 */
/* Passes an event on to the programs of other interfaces: lib/core/host.h. */
#ifndef NICPROBE_HOST_BPF_H
#define NICPROBE_HOST_BPF_H

#include "bpf/common/half.bpf.h"
#include "bpf/common/scratch.bpf.h"
#include "lib/core/host.h"

/* The loader makes all interfaces share these maps, except those whose config.slot is 0. */
volatile struct host host SEC(HOST_MAP);
MAP(PERCPU_ARRAY, host_handed, __u32, __u64, NR_SHARED);
MAP(PERCPU_ARRAY, host_cut, __u32, __u64, NR_SHARED);

#define P(name) MAP(PROG_ARRAY, to_##name, __u32, __u32, SLOTS);
SHARED_PROGRAMS(P)
#undef P

/* State of this CPU that does not depend on the interface. */
struct host_cpu {
	/*
	 * The frame that is in GRO on this CPU: the exit tracepoint does not pass it. GRO does not
	 * nest, as nothing calls it from within GRO (tunnels queue: gro_cells_receive()).
	 */
	__u32 gro_slot;		/* the interface… */
	__u32 gro_row;		/* …and its row + 1; 0: nobody's */
	__u16 held, normal;	/* enum gro_alone, if GRO returns GRO_HELD or GRO_NORMAL */
	__u32 gro_poll;		/* counts polls of this CPU: GRO mostly flushes after each */
	__u32 gro_armed;	/* polls still to be counted */
	struct slots timed;	/* slots whose meter napi times the softirqs of this CPU */
	__u64 softnet;		/* the address of its struct softnet_data; 0: not known yet */
	__u64 raised;		/* the NAPI that was scheduled last… */
	__u32 raised_slot;	/* …whose it is… */
	__u32 raised_current;	/* …as of this host.current */
};
SCRATCH_MAP(host_cpu, struct host_cpu);

static __always_inline struct host_cpu *host_here(void)
{
	return scratch_here(host_cpu);
}

/* Does the kernel run this program itself, and no other interface's program call it? */
static __always_inline bool entered(enum shared_program program)
{
	return !TOLD(slot) || TOLD(entered) >> program & 1;
}

/* The slot of a device; 0: none. */
static __always_inline __u32 device_slot(const void *dev)
{
	const volatile struct devices *d = &host.devices[host.current & 1];
	__u32 at = device_place(d->mul, lower_half(dev));

	return d->dev[at] == (__u64)dev ? d->slot[at] : 0;
}

/*
 * During a change of the attached program (lib/attach/handover.c): does this one pass the event on?
 * `handing` was read once: the old one counts an event exactly if it passes it on.
 */
static __noinline bool passes(__u32 program, __u32 handing)
{
	__u64 *handed = row_at(&host_handed, program);

	if (!handed)
		return true;
	if (TOLD(slot) != HOST_SLOT) {		/* the old one */
		*handed += handing == OLD_PASSES;
		return handing != NEW_PASSES;
	}
	if (*handed) {
		--*handed;
		return false;
	}
	return handing == NEW_PASSES;
}

/* Is there any interface that events of this program are passed on to? */
static __always_inline bool calls(enum shared_program program)
{
	return TOLD(slot) && host.calls >> program & 1;
}

/*
 * May this program pass events on at all? One that was replaced may still run for a while after the
 * change: before Linux 6.8 a link ends some time after its pin was removed.
 */
static __always_inline bool shares(enum shared_program program)
{
	__u32 passer;

	if (!calls(program))
		return false;
	if (!entered(program))
		return true;
	passer = host.passer[program];
	return passer == TOLD(slot) ||
	       (PASSER_HANDING(passer) && passes(program, PASSER_HANDING(passer)));
}

/* Passes the event on to the interface of a slot. Returns if that is nobody, or us. */
static __always_inline void pass_to(void *ctx, void *next, enum shared_program program, __u32 slot)
{
	if (slot && slot != TOLD(slot) &&
	    host.called[program].word[SLOT_WORD(slot)] & SLOT_BIT(slot))
		bpf_tail_call(ctx, next, slot);
}

static __noinline int pass_cut(__u32 program)
{
	__u64 *cut = row_at(&host_cut, program);

	if (cut)
		++*cut;
	return 0;
}

/* Slots of a word that come after `last`. */
static __always_inline __u64 slots_after(__u32 w, __u32 last)
{
	if (w != SLOT_WORD(last))
		return w > SLOT_WORD(last) ? ~0ull : 0;
	return ~1ull << last % 64;
}

/* Some slots: those of `set`, or if `others` all but these, and `one` and `other`. 0 is none. */
struct chosen {
	const volatile struct slots *set;	/* NULL: it is empty */
	bool others;
	__u32 one, other;
};

/*
 * Passes the event on to all interfaces of these slots: each of them passes it on to the next.
 * Returns if none is left; or if the kernel allows no further tail call (33 for an event), which
 * counts as an event that they missed.
 */
static __always_inline void pass_along(void *ctx, void *next, enum shared_program program,
				       struct chosen c)
{
#pragma unroll
	for (__u32 w = 0; w < SLOT_WORDS; w++) {
		__u64 slots = c.set ? c.set->word[w] : 0;

		if (w == 1 && host.words == 1)		/* mostly */
			return;
		if (c.others)
			slots = ~slots;
		slots |= w == SLOT_WORD(c.one) ? SLOT_BIT(c.one) : 0;
		slots |= w == SLOT_WORD(c.other) ? SLOT_BIT(c.other) : 0;
		slots &= host.called[program].word[w];
		slots &= slots_after(w, entered(program) ? 0 : TOLD(slot));
		if (!slots)
			continue;
		bpf_tail_call(ctx, next, 64 * w + log2_of(slots & -slots));
		pass_cut(program);
		return;
	}
}

/*
 * Passes on the event of a device that is not ours. Most are of none that is measured, so that is
 * asked first. To the two programs of a change it is the same for an event: no device comes or goes
 * then.
 */
static __always_inline void pass_on(void *ctx, void *next, enum shared_program program,
				    const void *dev)
{
	__u32 slot;

	if (!calls(program))
		return;
	slot = device_slot(dev);
	if (slot && shares(program))
		pass_to(ctx, next, program, slot);
}

#define PASS(ctx, program, dev) pass_on(ctx, &to_##program, SHARED_##program, dev)

#endif
