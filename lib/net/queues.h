/* SPDX-License-Identifier: GPL-2.0 */
/* Queues of an interface, with their NAPIs and interrupts. */
#ifndef NICPROBE_QUEUES_H
#define NICPROBE_QUEUES_H

#include <stdbool.h>
#include <stdio.h>

#include "lib/core/nic_driver.h"
#include "lib/net/iface.h"
#include "lib/proc/cpus.h"

#define VECTOR_NAME	48	/* of an interrupt: "mlx5_comp63@pci:0000:03:00.0" */

/* The queue of an interrupt, if it is not a number. */
enum { QUEUE_NONE = -1, QUEUE_ALL = -2 };

struct vector {			/* one interrupt of the device */
	unsigned irq;		/* 0: not requested, as while the interface is down */
	char name[VECTOR_NAME];	/* from /proc/interrupts; "": not requested */
	int rx, tx;		/* the queues it serves */
	unsigned at, len;	/* position of the queue's number in its name; len 0: none */
	bool half;		/* matched by %b: vectors_halve() assigns the queue */
	bool told;		/* `rx` and `tx` come from its NAPI, by netdev-genl */
};

/* How the queue of an interrupt is known. */
enum queues_by {
	QUEUES_UNKNOWN,
	QUEUES_BY_NETDEV,	/* reported by the driver (netdev-genl, 6.8) */
	QUEUES_BY_NAME,		/* by the names of the interrupts and the driver's table */
	QUEUES_BY_RANK,		/* by order: as many interrupts as queues */
	NR_QUEUES_BY
};
extern const char *const queues_by_text[];

struct queues {
	enum queues_by by;
	bool device;		/* there is a device behind it, not just software */
	unsigned nr;
	struct vector *vectors;	/* by interrupt number */
	/* NAPI IDs by queue, from netdev-genl; 0: unknown. NULL: none */
	unsigned nr_rx, nr_tx;
	__u32 *rx_napi, *tx_napi;
};

/* In the namespace the process is in. 0 or -ENOMEM; whatever is unknown stays empty. */
int queues_read(const struct iface *, const struct driver *, struct queues *);
void queues_free(struct queues *);

/* Parses a line of /proc/interrupts into number and "name, name"; false: not a device's. */
bool vector_line(const char *line, unsigned cpus, unsigned *irq, const char **names);
/* Finds the queue of an interrupt by its name and the driver's patterns. */
bool vector_match(const struct driver *, struct vector *);
/* Splits the vectors matched by %b: first half tx, second half rx, none beyond the queues. */
void vectors_halve(struct queues *, unsigned rx_queues, unsigned tx_queues);
/*
 * Drops queues that an interrupt serves only on paper. Since 6.13 e1000e reports both queues for
 * the NAPI of its receive interrupt, though a NAPI has one interrupt and two may wake it: a queue
 * belongs to the interrupt whose name says so.
 */
void vectors_own(struct queues *);
/*
 * If NAPIs receive or complete but not both (igb), their order by the interrupts: how many there
 * are, and that `rx` of them, from `first` on, receive. `all` 0: not so.
 */
struct napi_order {
	unsigned all, first, rx;
};
struct napi_order queues_order(const struct queues *);
/* The name that a pattern gives to a queue's interrupt; false: the pattern has wildcards. */
bool vector_expand(const char *pattern, const char *iface, unsigned queue, struct vector *);

/* Calls `fn` for each line that vector_line() accepts, its names 0-terminated. */
void vectors_each(void (*fn)(unsigned irq, char *names, void *arg), void *arg);
/* Copies the name at `*at` of "name, name" and advances; false: no more. */
bool vector_next(const char **at, char name[VECTOR_NAME]);

extern const char *proc_irq;	/* "/proc/irq"; tests use their own */
/* Affinity and effective affinity of an interrupt; empty if unknown. */
void vector_affinity(unsigned irq, struct cpus *affinity, struct cpus *effective);

#endif
