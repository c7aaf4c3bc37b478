/* SPDX-License-Identifier: GPL-2.0 */
/* Sets of slots, which programs read, and add to, at the same time. */
#ifndef NICPROBE_SLOT_SET_H
#define NICPROBE_SLOT_SET_H

#include <stdbool.h>

#include "lib/core/host.h"

static inline void slot_set(struct slots *s, __u32 slot)
{
	__atomic_or_fetch(&s->word[SLOT_WORD(slot)], SLOT_BIT(slot), __ATOMIC_SEQ_CST);
}

static inline void slot_clear(struct slots *s, __u32 slot)
{
	__atomic_and_fetch(&s->word[SLOT_WORD(slot)], ~SLOT_BIT(slot), __ATOMIC_SEQ_CST);
}

static inline bool slot_in(const struct slots *s, __u32 slot)
{
	return s->word[SLOT_WORD(slot)] & SLOT_BIT(slot);
}

static inline bool slots_any(const struct slots *s)
{
	__u64 any = 0;

	for (unsigned w = 0; w < SLOT_WORDS; w++)
		any |= s->word[w];
	return any;
}

#endif
