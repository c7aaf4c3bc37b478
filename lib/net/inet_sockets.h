/* SPDX-License-Identifier: GPL-2.0 */
/* The sockets of a protocol, and what is in their buffers. */
#ifndef NICPROBE_INET_SOCKETS_H
#define NICPROBE_INET_SOCKETS_H

#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <linux/types.h>
#include <stdbool.h>

enum {				/* 1 << state of TCP: include/net/tcp_states.h */
	SOCKETS_LISTEN = 1 << 10,
	SOCKETS_ESTABLISHED = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11,
	SOCKETS_CONNECTED = SOCKETS_ESTABLISHED | 1 << 2,	/* or on the way */
	SOCKETS_ALL = -1,
};

struct socket_facts {
	__u8 local[16], remote[16];	/* IPv4 as ::ffff:192.0.2.1 */
	__u32 local_port, remote_port, inode;
	__u32 mem[SK_MEMINFO_DROPS + 1];	/* by SK_MEMINFO_…: bytes, and packets dropped */
	bool probes;		/* TCP: data waits for the other end's window */
	bool ended;		/* TCP: the other end has sent its FIN */
	struct inet_diag_sockid id;	/* for tcp_closed() */
	__u8 family;
};

/*
 * Calls `fn` for each of IPPROTO_TCP or IPPROTO_UDP, IPv4 and IPv6, in the namespace the process is
 * in; ends with the first value that is not 0, and returns it. -errno: the kernel does not list
 * them (CONFIG_INET_DIAG).
 */
int sockets_each(int protocol, unsigned states, int (*fn)(const struct socket_facts *, void *arg),
		 void *arg);

struct tcp_info;			/* linux/tcp.h; of an older kernel the last members are 0 */
typedef int connection_fn(const struct socket_facts *, const struct tcp_info *, void *arg);

/*
 * The same of TCP connections, with what TCP tells of each. Those are left out of which it tells
 * nothing: in TIME_WAIT, or not established.
 */
int connections_each(connection_fn *fn, void *arg);

/* For how long, in ms, the windows of a TCP socket are closed, at least. */
struct tcp_closed {
	__u64 own, others;	/* 0: it is open, or was just now, or the kernel does not tell */
};

/* Asks for one of those that sockets_each() lists, by a request of its own. */
struct tcp_closed tcp_closed(const struct socket_facts *);

/* The ms until TCP has asked so often for a closed window, from the first wait on; `rto` in ms. */
__u64 tcp_probed(__u64 rto, unsigned times);

#endif
