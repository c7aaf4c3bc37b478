/* SPDX-License-Identifier: GPL-2.0 */
/* How an attempt to connect ended that was not established: as its socket has it. */
#ifndef NICPROBE_CONNECT_END_BPF_H
#define NICPROBE_CONNECT_END_BPF_H

#include "bpf/connect/connect.h"
#include "bpf/host/socket.bpf.h"

/* include/uapi/asm-generic/errno.h; parisc and mips have other numbers, and no tests */
enum connect_errno { UNREACHABLE_NET = 101, TIMED_OUT = 110, REFUSED = 111, UNREACHABLE = 113 };

/*
 * Is connect() under way? Until it has found a local port it is not (__inet_stream_connect() and
 * tcp_v4_connect(), 6.1 to 6.18).
 */
static __always_inline bool connecting(const struct sock___more *sk)
{
	const struct socket___state *socket = PLAIN(sk, sk_socket);

	return !socket || PLAIN(socket, state) == SS_CONNECTING;
}

/* How an attempt that was not established ended. */
static __always_inline enum connect_end connect_end_of(const struct sock *sk)
{
	switch (PLAIN(sk, sk_err)) {
	case 0:
		return connecting((const void *)sk) ? CONNECT_GIVEN_UP : CONNECT_NO_PORT;
	case REFUSED:
		return CONNECT_REFUSED;
	case TIMED_OUT:
		return CONNECT_UNANSWERED;
	case UNREACHABLE:
	case UNREACHABLE_NET:
		return CONNECT_UNREACHABLE;
	default:
		return CONNECT_FAILED;
	}
}

#endif
