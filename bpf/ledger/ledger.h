/* SPDX-License-Identifier: GPL-2.0 */
/* One queue and direction: the counts of the same packets by each, and the residue. */
#ifndef NICPROBE_LEDGER_H
#define NICPROBE_LEDGER_H

#include <stdint.h>

#include "lib/read/snapshot.h"

#define LEDGER_ALL	0xffff		/* queue: the whole interface */
#define LEDGER_WAYS	4		/* ways in which a card or an unknown driver may count */
#define LEDGER_MOST	(1 << 19)	/* bytes of a buffer: the kernel's limit for BIG TCP */
#define LEDGER_RING	4096		/* packets that a driver can have in flight */
#define LEDGER_POLL	64		/* packets delivered by a poll but not yet counted */

/* Sorts by memcmp() in the order shown. */
struct ledger_key {
	uint8_t way;		/* enum stat_way */
	uint8_t queue[2];	/* big endian */
	uint8_t unused;
};
KEY_BYTES(struct ledger_key, 4);

struct ledger {
	uint64_t hardware, driver;	/* according to the card, and to the driver */
	uint64_t ours;			/* at the nic point, counted as the driver counts */
	uint64_t xdp;			/* taken by XDP programs, according to the driver */
	uint64_t af_xdp;		/* lost by AF_XDP sockets, according to the meter xsk */
	uint64_t dropped;		/* according to the driver */
	/* seen only at the first of the nic and stack points */
	uint64_t between[RESIDUE_WORDS];
	uint64_t stack;			/* wire packets at the stack point */
	uint64_t tc;			/* dropped by tc filters, according to the meter drop */
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
