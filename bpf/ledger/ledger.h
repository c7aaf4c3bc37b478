/* SPDX-License-Identifier: GPL-2.0 */
/* One queue and direction: what each counted of the same packets, and what is left between them. */
#ifndef NICPROBE_LEDGER_H
#define NICPROBE_LEDGER_H

#include <stdint.h>

#include "lib/read/snapshot.h"

#define LEDGER_ALL	0xffff		/* queue: it is the interface */
#define LEDGER_WAYS	4		/* in which a card or an unknown driver may count */
#define LEDGER_MOST	(1 << 19)	/* bytes of a buffer: BIG TCP, as the kernel limits it */
#define LEDGER_RING	4096		/* packets that a driver can have in flight */
#define LEDGER_POLL	64		/* packets that a poll has handed up and not counted yet */

/* In the order shown: bytes compare as that. */
struct ledger_key {
	uint8_t way;		/* enum stat_way */
	uint8_t queue[2];	/* the higher byte first */
	uint8_t unused;
};

struct ledger {
	uint64_t hardware, driver;	/* what the card says, and the driver */
	uint64_t ours;			/* at the nic point, by the driver's way to count */
	uint64_t xdp;			/* that XDP programs took, as the driver says */
	uint64_t af_xdp;		/* that AF_XDP sockets lost, as the meter xsk says */
	uint64_t dropped;		/* by the driver, as it says */
	/* the nic and the stack point: seen at the first alone */
	uint64_t between[RESIDUE_WORDS];
	uint64_t stack;			/* wire packets at the stack point */
	uint64_t tc;			/* that filters of tc dropped, as the meter drop says */
	uint64_t residue[RESIDUE_WORDS * LEDGER_WAYS];
	uint64_t hardware_bytes, driver_bytes, our_bytes;
	uint64_t residue_bytes[RESIDUE_WORDS * LEDGER_WAYS];
};

static inline unsigned ledger_queue(const struct ledger_key *key)
{
	return key->queue[0] << 8 | key->queue[1];
}

int ledger_derive(const struct snapshot *, const struct snapshot *late, struct table *);

#endif
