/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts a connection when its handshake is complete and its listener has room for it. Its socket
 * is made as a copy of the listener's, and has the length of its queue (inet_csk_clone_lock(), 6.1
 * to 6.18; that of the SYN queue is cleared before, in 6.18, so the listener itself is asked). If
 * its last ACK and what follows come on two CPUs, two are made, of which one goes away untold
 * (inet_csk_complete_hashdance()): only the other is established.
 */
#ifndef NICPROBE_ACCEPT_BPF_H
#define NICPROBE_ACCEPT_BPF_H

#include "bpf/accept/accept.h"
#include "bpf/host/socket.bpf.h"

REMOTE_MAP(accept);
static const struct accept accept_none;

/* `life`: of the connection: who listens is in it. */
static __always_inline struct accept *accept_row(const struct sock *sk,
						 const struct socket_life *life, __u32 limit)
{
	struct accept_key key = { .port = port_local(sk), .limit = limit }, others = {};

	__builtin_memcpy(key.comm, life->comm, sizeof(key.comm));
	return REMOTE_ROW(&accept, &key, &others, &accept_none, METER_accept);
}

/* From now on it waits, if it is the one that stays: accept() may have it as it is established. */
static __always_inline void accept_came(const struct sock *sk, struct socket_life *life)
{
	const struct sock___backlog *queue = (const void *)sk;

	if (!life)
		return;
	life->queued = bpf_ktime_get_ns();
	life->limit = PLAIN(queue, sk_max_ack_backlog);
	life->listener = listener_of(sk);
	life->listens = port_local((const void *)life->listener);
}

static __always_inline void accept_queued(const struct sock *sk, const struct socket_life *life)
{
	const struct sock___backlog *queue = (const void *)sk;
	__u32 depth = PLAIN(queue, sk_ack_backlog), limit = PLAIN(queue, sk_max_ack_backlog);
	struct accept *row = accept_row(sk, life, limit);
	int syns = listener_syns(life->listener, life->listens);

	if (!row)
		return;
	COUNT(row, connections, 1);
	if (depth >= limit)
		COUNT(row, filled, 1);
	COUNT(row, depth.sum, depth);
	COUNT(row, depth.slot[counts_slot(depth)], 1);
	if (syns < 0)
		return;
	COUNT(row, syn_depth.sum, syns);
	COUNT(row, syn_depth.slot[counts_slot(syns)], 1);
}

/* A program has it now. */
static __always_inline void accept_taken(const struct sock *sk, struct socket_life *life)
{
	struct accept *row;
	__u64 ns;

	if (!life || !life->queued)
		return;
	ns = bpf_ktime_get_ns() - life->queued;
	life->queued = 0;
	row = accept_row(sk, life, life->limit);
	if (row)
		SPAN_ADD(row, wait, ns);
}

#endif
