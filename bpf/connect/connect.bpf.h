/* SPDX-License-Identifier: GPL-2.0 */
/* Counts attempts to connect, from SYN_SENT on: what the kernel refuses before is not seen. */
#ifndef NICPROBE_CONNECT_BPF_H
#define NICPROBE_CONNECT_BPF_H

#include "bpf/connect/connect_end.bpf.h"

REMOTE_MAP(connect);
static const struct connect connect_none;

static __always_inline struct connect *connect_row(const struct sock *sk,
						   const struct socket_life *life)
{
	struct connect_key key = {}, others = {};

	remote_of(&key.remote, sk);
	key.port = port_remote(sk);
	__builtin_memcpy(key.comm, life->comm, sizeof(key.comm));
	return REMOTE_ROW(&connect, &key, &others, &connect_none, METER_connect);
}

/* An attempt has ended that began while we looked on. */
static __always_inline void connect_ended(const struct sock *sk, const struct socket_life *life,
					  bool established, __u64 now)
{
	enum connect_end end = established ? CONNECT_ESTABLISHED : connect_end_of(sk);
	struct connect *row = connect_row(sk, life);
	__u64 ns = now - life->asked;

	if (!row)
		return;
	COUNT(row, attempts, 1);
	COUNT(row, ends[end], 1);
	if (established)
		SPAN_ADD(row, latency, ns);
	else
		SPAN_ADD(row, failing, ns);
}

static __always_inline void connect_again(const struct sock *sk, const struct socket_life *life)
{
	struct connect *row = connect_row(sk, life);

	if (row)
		COUNT(row, syns_again, 1);
}

#endif
