/* SPDX-License-Identifier: GPL-2.0 */
/* What the host's meters read of TCP sockets, and what they remember of each. */
#ifndef NICPROBE_SOCKET_BPF_H
#define NICPROBE_SOCKET_BPF_H

#include "bpf/host/counts.bpf.h"
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>

#define AF_INET		2
#define AF_INET6	10
#define IPPROTO_TCP	6

enum tcp_state {		/* include/net/tcp_states.h; user space sees them, too */
	TCP_ESTABLISHED = 1, TCP_SYN_SENT, TCP_SYN_RECV, TCP_FIN_WAIT1,
	TCP_FIN_WAIT2, TCP_TIME_WAIT, TCP_CLOSE, TCP_CLOSE_WAIT, TCP_LAST_ACK, TCP_LISTEN,
	TCP_CLOSING,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct minmax_sample {
	__u32 t, v;
};

struct minmax {
	struct minmax_sample s[3];
};

struct socket___state {		/* its states: include/uapi/linux/net.h */
	enum { SS_FREE, SS_UNCONNECTED, SS_CONNECTING } state;
};

struct sock_common___more {
	unsigned long skc_flags;
};

struct sock___more {
	struct sock_common___more __sk_common;
	struct socket___state *sk_socket;
};

struct sock___backlog {		/* of a listener: the queue for accept() */
	__u32 sk_ack_backlog, sk_max_ack_backlog;
};

struct atomic___syns {
	int counter;
};

struct request_sock_queue___syns {
	struct atomic___syns qlen;
};

struct inet_connection_sock___syns {	/* of a listener: the SYN queue */
	struct request_sock_queue___syns icsk_accept_queue;
};

struct tcp_sock___sent {
	struct list_head tsorted_sent_queue;
};

struct tcp_sock___totals {
	__u64 bytes_received, bytes_sent, bytes_retrans;
	__u32 data_segs_out, srtt_us, total_retrans;
	struct minmax rtt_min;
};

enum sock_flags { SOCK_DONE };	/* its number differs between kernels */

#pragma clang attribute pop

/* From when on, and by whom. */
struct socket_life {
	__u64 asked;		/* CLOCK_MONOTONIC ns of connect(); 0: it did not, or before us */
	__u64 established;	/* likewise; 0: it is not, or was before us */
	__u64 queued;		/* likewise; 0: it does not wait for accept() */
	__u64 awaited;		/* connect() as above; 0: its first byte was read, or it is not */
	__u64 listener;		/* address of whose connection it is; 0: not known */
	__u32 listens;		/* its port: not always the one that was asked for (TPROXY) */
	__u32 read;		/* the number of that byte */
	__u32 limit;		/* of the queue that it waits in */
	__u32 segments;		/* with data, sent: those that the meter tcp has counted */
	__u32 serves;		/* it was accepted, and did not connect */
	__u32 pid;		/* who connected or listens, with the name… */
	char comm[COMM_SIZE];	/* …"": not known */
};

/*
 * The kernel frees it with its socket, so it needs no room of ours. A connection that is accepted
 * has a copy of its listener's: so it knows who listens.
 */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
	__type(key, int);
	__type(value, struct socket_life);
} socket_lives SEC(".maps");

/* Of a tracepoint's own argument: of a pointer that was read the kernel takes none. */
static __always_inline struct socket_life *life_of(const struct sock *sk)
{
	return bpf_sk_storage_get(&socket_lives, (void *)sk, NULL, 0);
}

static __always_inline struct socket_life *life_begin(const struct sock *sk)
{
	return bpf_sk_storage_get(&socket_lives, (void *)sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
}

static __always_inline bool tcp_is_ours(const struct sock *sk)
{
	return PLAIN(sk, sk_protocol) == IPPROTO_TCP &&
	       net_is_ours(PLAIN(sk, __sk_common.skc_net.net));
}

static __always_inline void remote_v4(struct remote *to, __be32 address)
{
	__builtin_memset(to->bytes, 0, 10);
	to->bytes[10] = to->bytes[11] = 0xff;
	__builtin_memcpy(to->bytes + 12, &address, 4);
}

/* Also of a connection request or one in TIME_WAIT: they begin with the same members. */
static __always_inline void remote_of(struct remote *to, const struct sock *sk)
{
	if (PLAIN(sk, __sk_common.skc_family) == AF_INET)
		remote_v4(to, PLAIN(sk, __sk_common.skc_daddr));
	else
		bpf_core_read(to, sizeof(*to), &sk->__sk_common.skc_v6_daddr);
}

static __always_inline __u32 port_local(const struct sock *sk)
{
	return bpf_ntohs(PLAIN((const struct inet_sock *)sk, inet_sport));
}

static __always_inline __u32 port_remote(const struct sock *sk)
{
	return bpf_ntohs(PLAIN(sk, __sk_common.skc_dport));
}

/*
 * The address of the listener of which `sk` is still a copy. Its list of sent segments is empty:
 * so it points to itself, and that of the copy does, too, until tcp_create_openreq_child() clears
 * it (6.1 to 6.18).
 */
static __always_inline __u64 listener_of(const struct sock *sk)
{
	const struct tcp_sock___sent *tcp = (const void *)sk;

	return (__u64)PLAIN(tcp, tsorted_sent_queue.next) -
	       bpf_core_field_offset(struct tcp_sock___sent, tsorted_sent_queue);
}

/*
 * The length of its SYN queue, which a connection has left as it is established; -1: not known.
 * After fast open the listener may be gone, and something else in its place; `port`: it had that.
 */
static __always_inline int listener_syns(__u64 listener, __u32 port)
{
	const struct inet_connection_sock___syns *queue = (const void *)listener;
	const struct sock *plain = (const void *)listener;

	if (!listener || PLAIN(plain, __sk_common.skc_state) != TCP_LISTEN ||
	    port_local(plain) != port)
		return -1;
	return PLAIN(queue, icsk_accept_queue.qlen.counter);
}

#endif
