/* SPDX-License-Identifier: GPL-2.0 */
/* Counts a TCP connection when its socket is closed, by the totals that the socket has kept. */
#ifndef NICPROBE_SESSION_BPF_H
#define NICPROBE_SESSION_BPF_H

#include "bpf/session/session.h"
#include "bpf/host/socket.bpf.h"

REMOTE_MAP(session);
static const struct session session_none;

static __always_inline enum session_end session_end_of(const struct sock *sk, int old)
{
	switch (PLAIN(sk, sk_err)) {
	case 0:
		return old == TCP_ESTABLISHED || old == TCP_CLOSE_WAIT || old == TCP_FIN_WAIT1 ?
		       SESSION_ABORTED : SESSION_CLOSED;
	case 32:		/* EPIPE: in CLOSE_WAIT (tcp_reset()) */
	case 104:		/* ECONNRESET */
		return SESSION_RESET;
	case 110:		/* ETIMEDOUT */
		return SESSION_TIMED_OUT;
	default:
		return SESSION_FAILED;
	}
}

/* The FIN of the other side counts as a byte there, though it is none (tcp_queue_rcv(), 6.1). */
static __always_inline __u64 session_received(const struct sock *sk)
{
	const struct tcp_sock___totals *tcp = (const void *)sk;
	const struct sock___more *more = (const void *)sk;
	__u32 done = bpf_core_enum_value(enum sock_flags, SOCK_DONE);
	bool fin = PLAIN(more, __sk_common.skc_flags) >> done & 1;
	__u64 received = PLAIN(tcp, bytes_received);

	return received - (fin && received);
}

/* `life`: NULL if we know nothing of it. */
static __always_inline void session_ended(const struct sock *sk, const struct socket_life *life,
					  int old, __u64 now)
{
	const struct tcp_sock___totals *tcp = (const void *)sk;
	struct session_key key = {}, others = {};
	struct session *row;

	remote_of(&key.remote, sk);
	if (life) {
		key.serves = life->serves;
		__builtin_memcpy(key.comm, life->comm, sizeof(key.comm));
	}
	key.port = key.serves ? port_local(sk) : port_remote(sk);
	others.serves = key.serves;
	row = REMOTE_ROW(&session, &key, &others, &session_none, METER_session);
	if (!row)
		return;
	if (!life || !life->established) {
		COUNT(row, older, 1);
		return;
	}
	COUNT(row, ends[session_end_of(sk, old)], 1);
	COUNT(row, received, session_received(sk));
	COUNT(row, sent, PLAIN(tcp, bytes_sent) - PLAIN(tcp, bytes_retrans));
	COUNT(row, retransmits, PLAIN(tcp, total_retrans));
	SPAN_ADD(row, duration, (now - life->established) / 1000);
}

#endif
