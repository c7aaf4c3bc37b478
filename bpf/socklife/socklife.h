/* SPDX-License-Identifier: GPL-2.0 */
/* Lives of sockets that are no TCP connections, counted when they end. */
#ifndef NICPROBE_SOCKLIFE_H
#define NICPROBE_SOCKLIFE_H

#include "bpf/host/remote.h"

/* `family` 0: any, of those for which the map has no room any more. */
struct socklife_key {
	__u16 family, type;	/* AF_INET, SOCK_DGRAM */
	__u16 protocol;
	__u16 port;		/* the remote one, or the local one of a socket without remote;
				   0: none that says anything */
	struct remote remote;	/* all zeros: it was not connected */
	char comm[COMM_SIZE];	/* of who made it; of an older one: who closed it */
};
KEY_BYTES(struct socklife_key, 40);

struct socklife {
	__u64 older;		/* were there before us: only their number is known */
	__u64 received, sent;	/* bytes… */
	__u64 receives, sends;	/* …in so many messages */
	HIST(duration, LOGLIN_SLOTS);	/* us, from socket() to the last close() */
};

/*
 * So many rows may have an address or a port. A resolver has a port for each query, a server of UDP
 * may have a socket for each client: further ones count by family, protocol and process.
 */
#define SOCKLIFE_ENDS	(REMOTES / 8 * 7)

#ifndef __bpf__
/* Why lives of sockets cannot be followed on this kernel; NULL: they can. */
const char *socklife_cannot(void);
#endif

#endif
