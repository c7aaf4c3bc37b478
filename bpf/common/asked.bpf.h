/* SPDX-License-Identifier: GPL-2.0 */
/* Whose an event without a device may be: of all interfaces but those that have said no. */
#ifndef NICPROBE_ASKED_BPF_H
#define NICPROBE_ASKED_BPF_H

#include "bpf/common/host.bpf.h"

/* Answers about one thing. A slot is asked once, and again when other interfaces are attached. */
struct asked {
	__u64 what[2];		/* what tells it from a later thing in its place */
	struct slots no;	/* whose it is not */
	__u32 current;		/* host.current then */
	__u32 unused;
};

/* Forgets answers about another thing, or of slots that may have changed hands. */
static __always_inline void asked_renew(struct asked *a, __u64 one, __u64 other)
{
	__u32 current = host.current;

	if (a->what[0] == one && a->what[1] == other && a->current == current)
		return;
	for (__u32 w = 0; w < SLOT_WORDS; w++)	/* first: nobody may see old answers as new ones */
		__sync_lock_test_and_set(&a->no.word[w], 0);
	a->what[0] = one;
	a->what[1] = other;
	a->current = current;
}

/* May it be ours? NULL: nobody's answers are known. */
static __always_inline bool asked_us(const struct asked *a)
{
	return !a || !(a->no.word[SLOT_WORD(TOLD(slot))] & SLOT_BIT(TOLD(slot)));
}

static __always_inline void asked_no(struct asked *a)
{
	if (a)
		__sync_fetch_and_or(&a->no.word[SLOT_WORD(TOLD(slot))], SLOT_BIT(TOLD(slot)));
}

/* The slots whose it may be. */
static __always_inline struct chosen asked_slots(const struct asked *a)
{
	return (struct chosen){ .set = a ? &a->no : NULL, .others = true };
}

#endif
