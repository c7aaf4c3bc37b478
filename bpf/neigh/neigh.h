/* SPDX-License-Identifier: GPL-2.0 */
/* How the kernel finds out the link-layer address of a neighbour: ARP and neighbour discovery. */
#ifndef NICPROBE_NEIGH_H
#define NICPROBE_NEIGH_H

#include "lib/core/abi.h"

enum neigh_end {		/* of asking for an address */
	NEIGH_ANSWERED,		/* by the neighbour: an answer, or a question of its own */
	NEIGH_FAILED,		/* nothing answered */
	NEIGH_DELETED,		/* meanwhile, by a user or with the interface */
	NEIGH_SET,		/* a user said the address */
	NR_NEIGH_ENDS
};

enum neigh_drop {		/* why a packet was dropped that waited */
	NEIGH_DROP_OVERFLOW,	/* others came after it (unres_qlen_bytes) */
	NEIGH_DROP_FAILED,	/* nothing answered */
	NEIGH_DROP_DELETED,
	NEIGH_DROP_DEAD,	/* it came when the entry was removed already: it did not wait */
	NR_NEIGH_DROPS
};

enum neigh_confirm {		/* whether a known neighbour that was asked is still there */
	NEIGH_CONFIRMED,
	NEIGH_SILENT,
	NR_NEIGH_CONFIRMS
};

#define NEIGH_NAME_SIZE 16	/* IFNAMSIZ */

/* All zeros: any, of those for which the map has no room any more. */
struct neigh_key {
	char device[NEIGH_NAME_SIZE];
	__u32 family;		/* AF_INET, AF_INET6 */
};
KEY_BYTES(struct neigh_key, 20);

struct neigh {
	__u64 ends[NR_NEIGH_ENDS];
	__u64 untimed;		/* answered, and not in `latency`: when it began is not known */
	__u64 solicits;		/* to resolve an address */
	__u64 waited;		/* packets */
	__u64 drops[NR_NEIGH_DROPS];	/* packets */
	__u64 confirms[NR_NEIGH_CONFIRMS];
	__u64 probes;		/* to confirm one */
	__u64 refused;		/* entries for which the table had no room */
	HIST(latency, LOGLIN_SLOTS);	/* ns, of those answered */
	HIST(confirming, LOGLIN_SLOTS);	/* ns, of those confirmed */
};

#endif
