/* SPDX-License-Identifier: GPL-2.0 */
/* TCP connections that are open: what they carry, read of the kernel. */
#ifndef NICPROBE_OPEN_H
#define NICPROBE_OPEN_H

#include "bpf/host/remote.h"

/* Without a port: those that have no row. */
struct open_key {
	struct remote local, remote;
	__u32 local_port, remote_port;
	__u32 inode;		/* of the socket */
	__u32 cookie[2];	/* the kernel's own number of the socket: none comes twice */
};
KEY_BYTES(struct open_key, 52);

struct open {
	__u64 bytes;		/* of payload, both ways */
	__u64 received, sent;	/* what was sent again counts once */
	__u64 retransmits;	/* segments */
	/* levels: now, and 0 */
	__u64 round_trip[2];	/* us, smoothed */
	__u64 window[2];	/* segments */
	__u64 unsent[2];	/* bytes that a program has written, and TCP has not sent */
	__u64 without[2];	/* connections that have no row */
};

#define OPEN_ROWS	1000	/* those that have carried most since attach */

#endif
