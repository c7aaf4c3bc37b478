/* SPDX-License-Identifier: GPL-2.0 */
/* What a test makes a card do: complete late, never or out of order, lack buffers, refuse. */
#ifndef NICPROBE_SWITCHES_H
#define NICPROBE_SWITCHES_H

#include "model.h"

/*
 * 32-bit words in the PCI configuration space, where no card of ours has anything else: the guest's
 * root reads and writes /sys/class/net/IFACE/device/config, whoever drives the card.
 */
#define SWITCHES_AT	0xc0
#define HOLD_ON		UINT32_MAX

struct completion {
	struct completion *next;
	int64_t due;
	unsigned queue;
	uint64_t what[2];		/* the card's own words */
};

struct switches {
	uint32_t words[SWITCHES];
	struct completion *held;	/* as they were sent */
	struct completion *reversed;	/* the last first */
};

bool switch_at(uint32_t at, int size);	/* is one there? */
uint32_t switch_read(const struct switches *, uint32_t at);
void switch_write(struct model *, uint32_t at, uint32_t value);

/* qemu.c */
struct switches *model_switches(struct model *);
const struct model_card *model_card(const struct model *);

#endif
