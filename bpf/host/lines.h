/* SPDX-License-Identifier: GPL-2.0 */
/* Single events of sockets, each as it happens: what `nicprobe host` prints. */
#ifndef NICPROBE_LINES_H
#define NICPROBE_LINES_H

#include "bpf/connect/connect.h"
#include "bpf/host/kinds.h"
#include "bpf/host/remote.h"
#include "bpf/session/session.h"
#include "bpf/socklife/socklife.h"
#include "bpf/tcp/tcp.h"
#include "bpf/tcpwait/tcpwait.h"

/* The first ones are seen by programs of ours, the last by those of nicprobe trace. */
#define HOST_EVENTS(E)								\
	E(connect) E(accept) E(sessions) E(sockets) E(retransmits) E(window) E(states)	\
	E(listen) E(bind) E(udp)

enum host_event {
#define E(name) HOST_##name,
	HOST_EVENTS(E)
#undef E
	NR_HOST_EVENTS
};

#define SPAN_UNKNOWN	(~0ull)
#define COUNT_UNKNOWN	(~0ull)
#define SSTHRESH_NONE	0x7fffffff	/* TCP_INFINITE_SSTHRESH of include/net/tcp.h */

/* What keeps a connection from sending more. */
enum line_limit {		/* those of enum tcpwait_cause, and: */
	LIMIT_APPLICATION = NR_TCPWAIT,	/* all that was written is sent */
	LIMIT_SEND_BUFFER,	/* so it is, and there is no room to write more */
	NR_LINE_LIMITS
};

/* Lines are told of one event, and of sockets that have this port at either end. */
struct line_filter {
	__u32 event;		/* enum host_event */
	__u32 port;		/* 0: all */
	struct remote remote;
	__u32 only_remote;	/* else all */
};

enum line_side { SIDE_UNKNOWN, SIDE_CLIENT, SIDE_SERVER };

/* Of each event, what it has no use for is 0. */
struct host_line {
	__u64 time;		/* CLOCK_MONOTONIC, ns */
	__u64 span;		/* ns: of connect(), of a session, of the former state, of a
				   round trip */
	__u64 received, sent;	/* payload bytes of a session; sent: each once… */
	__u64 receives, sends;	/* …or of a socket, in so many messages; COUNT_UNKNOWN: it
				   was there before */
	struct remote local, remote;
	__u32 local_port, remote_port;	/* 0: it has none */
	__u32 pid;
	char comm[COMM_SIZE];	/* whose socket it is; "": not known */
	char iface[16];		/* through which it sends; "": not known */
	char kind[16];		/* of that interface, as ip-link(8) calls it; "": hardware */
	__s32 rx_queue, tx_queue;	/* -1: not known */
	__u32 end;		/* enum connect_end, session_end, tcp_again */
	__u32 side;		/* enum line_side */
	__u32 old_state, state;	/* as the kernel numbers them; 0: none */
	__u32 segments;		/* sent again, at once or in all of a session; in flight */
	__u32 cwnd, ssthresh;	/* segments; ssthresh: SSTHRESH_NONE until something was lost */
	__u32 congestion;	/* enum tcp_ca_state, of include/uapi/linux/tcp.h */
	__u32 limit;		/* enum line_limit */
	__u32 peer_window;	/* bytes that the receiver takes */
	__u32 waiting, backlog;	/* connections that wait for accept(), and how many may */
	__s32 half_open;	/* other handshakes that this listener has begun; -1: not known */
	__u32 protocol;		/* of a socket, as of bind()… */
	__u16 family, type;	/* …AF_INET, SOCK_DGRAM */
	__u32 error;		/* errno of a call; 0: none */
};

#ifndef __bpf__
extern const char *const host_event_names[NR_HOST_EVENTS];

struct error;
struct line_feed;

/* Why this event cannot be seen on this kernel; NULL: it can. */
const char *lines_cannot(enum host_event);
/*
 * Tells lines of one event, up to HOST_listen, in one network namespace, until lines_end(). Nothing
 * is left behind, however the process ends. NULL: an error.
 */
struct line_feed *lines_begin(const struct line_filter *, __u32 netns,
			  void (*tell)(const struct host_line *, void *arg), void *arg,
			  struct error *);
/* Calls tell() for each that came within `ms`. 0 or -errno; -EINTR: a signal. */
int lines_poll(struct line_feed *, int ms);
void lines_detach(struct line_feed *);		/* none comes any more; they can be read */
unsigned long long lines_lost(const struct line_feed *);	/* not read in time, or missed */
void lines_end(struct line_feed *);
#endif

#endif
