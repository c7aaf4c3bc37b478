/* SPDX-License-Identifier: GPL-2.0 */
/* What TCP listeners drop, and the SYN cookies they use: counted by the kernel. */
#ifndef NICPROBE_BACKLOG_H
#define NICPROBE_BACKLOG_H

#include "bpf/host/remote.h"

/* All zeros: the namespace. */
struct backlog_key {
	struct remote address;
	__u32 port;
	__u32 inode;		/* of the socket */
};
KEY_BYTES(struct backlog_key, 24);

enum backlog_full {
	BACKLOG_COOKIES,		/* answered with a cookie */
	BACKLOG_DROPPED,
	NR_BACKLOG_FULL
};

struct backlog {		/* all but the last: of the namespace */
	__u64 overflows;	/* SYNs and ACKs that found an accept queue full */
	__u64 drops;		/* these, and those dropped for other reasons */
	__u64 full[NR_BACKLOG_FULL];	/* SYNs that found a SYN queue full */
	__u64 cookies_sent, cookies_received, cookies_failed;
	__u64 socket_drops;	/* of a listener */
};

#endif
