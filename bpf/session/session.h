/* SPDX-License-Identifier: GPL-2.0 */
/* Lives of TCP connections, counted when they end. */
#ifndef NICPROBE_SESSION_H
#define NICPROBE_SESSION_H

#include "bpf/host/remote.h"

enum session_end {
	SESSION_CLOSED,		/* by a FIN of each side */
	SESSION_RESET,		/* by a RST that came */
	SESSION_ABORTED,	/* by this side, by a RST or in silence */
	SESSION_TIMED_OUT,	/* the other side did not answer any more */
	SESSION_FAILED,		/* another error */
	NR_SESSION_ENDS
};

struct session_key {
	struct remote remote;
	__u32 port;		/* of the service: the remote one, or ours if we serve */
	__u32 serves;		/* the connection was accepted; 0: this host asked for it */
	char comm[COMM_SIZE];	/* who connected, or listens */
};
KEY_BYTES(struct session_key, 40);

struct session {
	__u64 ends[NR_SESSION_ENDS];
	__u64 older;		/* began before we looked on: only their number is known */
	__u64 received, sent;	/* payload bytes; sent: each once */
	__u64 retransmits;	/* segments */
	HIST(duration, LOGLIN_SLOTS);	/* us, from established to closed */
};

#ifndef __bpf__
extern const char *const session_ends[NR_SESSION_ENDS];	/* words for enum session_end */
#endif

#endif
