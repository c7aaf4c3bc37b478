/* SPDX-License-Identifier: GPL-2.0 */
/* From what we count at a nic point to what a driver or a card counts of the same packets. */
#ifndef NICPROBE_LEDGER_WAYS_H
#define NICPROBE_LEDGER_WAYS_H

#include "bpf/ledger/ledger.h"
#include "lib/core/nic_driver.h"
#include "xdp/pktsize.h"

struct tally {
	uint64_t packets, bytes;
};

/* What these rows of the meter pktsize come to in each way a driver may count, in LEDGER_WAYS. */
void ledger_ways(const struct driver *, bool tx, const struct pktsize *, struct tally *);
/* Wire packets at a nic point, and at a stack point. */
uint64_t ledger_packets(const struct pktsize *, bool nic);

/* What is read of a queue, not all of it at one moment: `first` before the driver, `last` after. */
struct ledger_seen {
	struct tally driver;		/* what it counted */
	struct tally first[LEDGER_WAYS], last[LEDGER_WAYS];	/* what we did */
	struct tally known;		/* that we counted and it did not, as others tell */
	uint64_t more, less;		/* packets that it may have more than we, or less… */
	uint64_t ever_more, ever_less;	/* …of these, what was added up over time */
	uint64_t most;			/* bytes of the largest that we may have counted */
	int some;			/* bytes that some packets have more, or less */
};

/* What can be left of it, in each way. */
void ledger_residue(const struct ledger_seen *, struct ledger *);

#endif
