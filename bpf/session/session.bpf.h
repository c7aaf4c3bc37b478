/* SPDX-License-Identifier: GPL-2.0 */
/* Counts a TCP connection when its socket is closed, by the totals that the socket has kept. */
#ifndef NICPROBE_SESSION_BPF_H
#define NICPROBE_SESSION_BPF_H

#include "bpf/session/session_end.bpf.h"

REMOTE_MAP(session);
static const struct session session_none;

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
