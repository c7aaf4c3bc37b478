/* SPDX-License-Identifier: GPL-2.0 */
/* Connections that came to listeners of this host, and how full the accept queue was for each. */
#ifndef NICPROBE_ACCEPT_H
#define NICPROBE_ACCEPT_H

#include "bpf/host/remote.h"

/* All zeros: any, of those for which the map has no room any more. */
struct accept_key {
	__u32 port;
	__u32 limit;		/* of its accept queue: with a depth of this, one more has room */
	char comm[COMM_SIZE];	/* who listens */
};
KEY_BYTES(struct accept_key, 24);

struct accept {
	__u64 connections;	/* put into the queue */
	__u64 filled;		/* of these, the ones that took its last place */
	HIST(depth, COUNTS_SLOTS);	/* connections that waited in it when one came */
	HIST(syn_depth, COUNTS_SLOTS);	/* other handshakes that were not complete when one was */
	HIST(wait, LOGLIN_SLOTS);	/* ns, from the last ACK to accept() */
};

#endif
