/* SPDX-License-Identifier: GPL-2.0 */
/* TCP connections from one port to another, and threads that fill and empty them. */
#ifndef NICPROBE_TCP_H
#define NICPROBE_TCP_H

#include <pthread.h>
#include <stdint.h>

#include "trial/scenario/port.h"

#define CONNECTIONS_MAX	1024

struct address {		/* that a port gets for a while: the kernel takes it back, too */
	const struct port *port;	/* NULL: it has none */
	int family;
	uint8_t bytes[16];
};

struct tcp {
	unsigned connections, threads;	/* threads at each end */
	struct address at[2];		/* of who sends and who receives */
	int *fd[2];
	struct tcp_thread *thread;
	double until;
	volatile int over;		/* what has not arrived by now does not count */
};

/*
 * Gives both ports an address that ends after so many seconds, and connects them. 0, or -errno and
 * a complaint.
 */
int tcp_open(struct tcp *, const struct port *from, const struct port *to, bool ipv6,
	     double seconds);
int tcp_send(struct tcp *, double seconds);	/* 0, or -errno and a complaint */
void tcp_count(const struct tcp *, uint64_t *sent, uint64_t *received, uint64_t *retransmits);
void tcp_close(struct tcp *);

/* 0, or -errno and a complaint. */
int address_add(struct address *, double seconds);
void address_remove(struct address *);

#endif
