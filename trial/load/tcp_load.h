/* SPDX-License-Identifier: GPL-2.0 */
/* TCP connections from one port to another, with sending and receiving threads. */
#ifndef NICPROBE_TCP_LOAD_H
#define NICPROBE_TCP_LOAD_H

#include <pthread.h>
#include <stdint.h>

#include "trial/scenario/port.h"

struct error;

#define CONNECTIONS_MAX	1024

struct address {		/* a temporary address of a port, with a lifetime in the kernel */
	const struct port *port;	/* NULL: not added */
	int family;
	uint8_t bytes[16];
};

struct tcp_load {
	unsigned connections, threads;	/* threads at each end */
	struct address at[2];		/* of sender and receiver */
	int *fd[2];
	struct tcp_thread *thread;
	double until;
	volatile int over;		/* receivers stop: bytes still in flight do not count */
};

/*
 * Adds an address with a lifetime to both ports and connects them. 0, or -errno with an error
 * message.
 */
int tcp_open(struct tcp_load *, const struct port *from, const struct port *to, bool ipv6,
	     double seconds, struct error *);
/* 0, or -errno with an error message. */
int tcp_send(struct tcp_load *, double seconds, struct error *);
void tcp_count(const struct tcp_load *, uint64_t *sent, uint64_t *received, uint64_t *retransmits);
void tcp_close(struct tcp_load *);

/* 0, or -errno with an error message. */
int address_add(struct address *, double seconds, struct error *);
void address_remove(struct address *);

#endif
