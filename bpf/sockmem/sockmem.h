/* SPDX-License-Identifier: GPL-2.0 */
/* How full the buffers of sockets are, and what found them full: read of the kernel. */
#ifndef NICPROBE_SOCKMEM_H
#define NICPROBE_SOCKMEM_H

#include "bpf/host/remote.h"

enum sockmem_of {		/* what a row is about */
	SOCKMEM_MEMORY,		/* all that a protocol holds, in all namespaces */
	SOCKMEM_RECEIVE,
	SOCKMEM_SEND,
	SOCKMEM_TIME_WAIT,	/* TCP: closed connections of the namespace that are remembered */
	NR_SOCKMEM_OF
};

/* Without a port: all sockets of the protocol, of the namespace. */
struct sockmem_key {
	__u32 protocol;		/* IPPROTO_TCP, IPPROTO_UDP */
	__u32 of;		/* enum sockmem_of */
	struct remote local, remote;
	__u32 local_port, remote_port;
	__u32 inode;		/* of the socket; 0: no process has it any more */
};
KEY_BYTES(struct sockmem_key, 52);

enum sockmem_drop {		/* why packets were dropped, as a buffer had no room */
	SOCKMEM_BUFFER,		/* that of the socket was full */
	SOCKMEM_BACKLOG,	/* that of a socket which is in use just now */
	SOCKMEM_EARLY,		/* TCP: it came out of order, and gave way to what is in order */
	SOCKMEM_LIMIT,		/* the memory of all sockets of the protocol is used up */
	NR_SOCKMEM_DROPS
};

struct sockmem {
	/* levels: now, and 0 */
	__u64 fill[2];		/* percent; of several sockets: the fullest */
	__u64 held[2], limit[2];	/* bytes, of all sockets together */
	__u64 sockets[2];	/* or connections in TIME_WAIT, against tcp_max_tw_buckets */
	__u64 full[2];		/* of these, so full as SOCKMEM_FULL says */
	__u64 shut[2];		/* s that a window is closed: TCP's own, or the other end's */
	/* of all sockets of the protocol, as the kernel counts them: */
	__u64 packets;		/* segments received or sent; datagrams read or sent */
	__u64 dropped[NR_SOCKMEM_DROPS];
	__u64 closed;		/* times TCP closed a receive window */
	__u64 pruned;		/* times TCP had to make room in a receive buffer */
	__u64 collapsed;	/* buffers of packets that this put together */
	__u64 pressures;	/* times TCP began to save memory */
	__u64 forgotten;	/* connections that TIME_WAIT had no place for */
	__u64 socket_drops;	/* of one socket of UDP: datagrams, by its own count */
};

#define SOCKMEM_FULL	80	/* percent */
#define SOCKMEM_SHOWN	25	/* percent; of the sockets as full as this… */
#define SOCKMEM_FULLEST	5	/* …so many have a row, by protocol and direction */
#define SOCKMEM_HALF	50	/* percent; below it no receive window is closed */
#define SOCKMEM_ASKED	1000	/* sockets, of those whose windows may be closed */
#define SOCKMEM_MORE	100	/* so many more: they dropped something, or a window is closed… */
				/* …and beside them, by direction, that which is closed longest */

#endif
