/* SPDX-License-Identifier: GPL-2.0 */
/* How a TCP connection ended, and what it received: as its socket has it when it is closed. */
#ifndef NICPROBE_SESSION_END_BPF_H
#define NICPROBE_SESSION_END_BPF_H

#include "bpf/session/session.h"
#include "bpf/host/socket.bpf.h"

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

#endif
