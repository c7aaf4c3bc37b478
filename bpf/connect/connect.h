/* SPDX-License-Identifier: GPL-2.0 */
/* Connections that this host asked for: how each attempt ended, and how long it took. */
#ifndef NICPROBE_CONNECT_H
#define NICPROBE_CONNECT_H

#include "bpf/host/remote.h"

enum connect_end {
	CONNECT_ESTABLISHED,
	CONNECT_REFUSED,	/* a RST, or ICMP port unreachable, answered */
	CONNECT_UNANSWERED,	/* ETIMEDOUT: no answer to any SYN */
	CONNECT_UNREACHABLE,	/* a router, or the neighbour's silence, said so */
	CONNECT_NO_PORT,	/* no local port was free */
	CONNECT_GIVEN_UP,	/* the socket was closed before an answer came */
	CONNECT_FAILED,		/* another error */
	NR_CONNECT_ENDS
};

struct connect_key {
	struct remote remote;
	__u32 port;		/* of the remote end */
	char comm[COMM_SIZE];	/* who connects */
};
KEY_BYTES(struct connect_key, 36);

struct connect {
	__u64 attempts;		/* that ended */
	__u64 ends[NR_CONNECT_ENDS];
	__u64 syns_again;	/* SYNs sent once more */
	HIST(latency, LOGLIN_SLOTS);	/* of those established, ns */
	HIST(failing, LOGLIN_SLOTS);	/* of the others */
};

#ifndef __bpf__
extern const char *const connect_ends[NR_CONNECT_ENDS];	/* words for enum connect_end */

/* The labels of a key that begins with a connect_key, and their text. */
extern const char *const connect_labels[];
void connect_words(const void *key, unsigned nr, char *text, size_t size);
#endif

#endif
