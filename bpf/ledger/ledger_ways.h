/* SPDX-License-Identifier: GPL-2.0 */
/* Converts our counts at a nic point to what a driver or card counts for the same packets. */
#ifndef NICPROBE_LEDGER_WAYS_H
#define NICPROBE_LEDGER_WAYS_H

#include "bpf/ledger/ledger.h"
#include "lib/core/nic_driver.h"
#include "xdp/pktsize.h"

struct tally {
	uint64_t packets, bytes;
};

/* Converts a row of the meter pktsize to each of LEDGER_WAYS in which a driver may count. */
void ledger_ways(const struct driver *, bool tx, const struct pktsize *, struct tally *);
/* Wire packets at a nic point, and at a stack point. */
uint64_t ledger_packets(const struct pktsize *, bool nic);

/* Counts of a queue: ours are read before the driver's (`first`) and after (`last`). */
struct ledger_seen {
	struct tally driver;		/* its count */
	struct tally first[LEDGER_WAYS], last[LEDGER_WAYS];	/* ours */
	struct tally known;		/* counted by us but not by it, as other meters show */
	uint64_t more, less;		/* packets that it may count more or less than we… */
	uint64_t ever_more, ever_less;	/* …of these, the part that grows over time */
	uint64_t most;			/* upper bound of the bytes of one buffer */
	int some;			/* bytes that some packets count more (or less) */
};

/* The possible residue, in each way. */
void ledger_residue(const struct ledger_seen *, struct ledger *);

#endif
