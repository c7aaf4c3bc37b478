/* SPDX-License-Identifier: GPL-2.0 */
/* What belongs together at one interface: its queues, their NAPIs, and its interrupts. */
#ifndef NICPROBE_QUEUES_H
#define NICPROBE_QUEUES_H

#include <stdbool.h>
#include <stdio.h>

#include "lib/core/nic_driver.h"
#include "lib/net/iface.h"
#include "lib/proc/cpus.h"

#define VECTOR_NAME	48	/* of an interrupt: "mlx5_comp63@pci:0000:03:00.0" */

/* Which queue an interrupt serves, where it is no number. */
enum { QUEUE_NONE = -1, QUEUE_ALL = -2 };

struct vector {			/* one interrupt of the device */
	unsigned irq;		/* 0: not requested, as of an interface that is down */
	char name[VECTOR_NAME];	/* as /proc/interrupts has it; "": nobody requested it */
	int rx, tx;		/* the queues it serves */
	unsigned at, len;	/* where in its name the queue's number stands; len 0: nowhere */
	bool half;		/* %b: which queue it is, vectors_halve() has yet to say */
	bool told;		/* `rx` and `tx` are those of its NAPI, as netdev-genl has them */
};

/* How it is known which interrupt serves which queue. */
enum queues_by {
	QUEUES_UNKNOWN,		/* it is not */
	QUEUES_BY_NETDEV,	/* the driver told the kernel (netdev-genl, 6.8) */
	QUEUES_BY_NAME,		/* by the names of the interrupts and the driver's table */
	QUEUES_BY_RANK,		/* there are as many interrupts as queues: by their order */
};
extern const char *const queues_by_text[];

struct queues {
	enum queues_by by;
	bool device;		/* there is a device behind it: it is not software alone */
	unsigned nr;
	struct vector *vectors;	/* by interrupt number */
	/* NAPI ids by queue, as netdev-genl has them; 0: not known. NULL: of none */
	unsigned nr_rx, nr_tx;
	__u32 *rx_napi, *tx_napi;
};

/* In the namespace the process is in. 0 or -ENOMEM; what cannot be known is not there. */
int queues_read(const struct iface *, const struct driver *, struct queues *);
void queues_free(struct queues *);

/* Reads a line of /proc/interrupts: its number and "name, name"; false: it is no device's. */
bool vector_line(const char *line, unsigned cpus, unsigned *irq, const char **names);
/* Which queue an interrupt of this name serves, by the patterns of the driver. */
bool vector_match(const struct driver *, struct vector *);
/* Gives the second half of those of a %b to the receive queues, and what is no queue to none. */
void vectors_halve(struct queues *, unsigned rx_queues, unsigned tx_queues);
/*
 * A NAPI has one interrupt, and two may wake it, or do without it what it does for others: since
 * 6.13 e1000e tells both queues of the one that it receives by. A queue is its whose name says so.
 */
void vectors_own(struct queues *);
/*
 * Where a NAPI either receives or completes, by the interrupts that each has one of (igb): how many
 * there are, and that `rx` of them, from the place `first` on, receive. `all` 0: it is not so.
 */
struct napi_order {
	unsigned all, first, rx;
};
struct napi_order queues_order(const struct queues *);
/* The name that a pattern gives the interrupt of a queue; false: it leaves something open. */
bool vector_expand(const char *pattern, const char *iface, unsigned queue, struct vector *);

/* Calls `fn` with each line that vector_line() knows, its names ended by 0. */
void vectors_each(void (*fn)(unsigned irq, char *names, void *arg), void *arg);
/* The name in "name, name" at `*at`, which moves on to the next; false: there is no more. */
bool vector_next(const char **at, char name[VECTOR_NAME]);

extern const char *proc_irq;	/* "/proc/irq"; tests have their own */
/* The CPUs that an interrupt may run on, and those it is sent to; none: not known. */
void vector_affinity(unsigned irq, struct cpus *affinity, struct cpus *effective);

#endif
