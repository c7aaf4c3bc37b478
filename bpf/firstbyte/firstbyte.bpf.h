/* SPDX-License-Identifier: GPL-2.0 */
/* Sees the first read of a connection that this host asked for. */
#ifndef NICPROBE_FIRSTBYTE_BPF_H
#define NICPROBE_FIRSTBYTE_BPF_H

#include "bpf/firstbyte/firstbyte.h"
#include "bpf/host/socket.bpf.h"

REMOTE_MAP(firstbyte);
static const struct firstbyte firstbyte_none;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct tcp_sock___read {
	__u32 copied_seq;		/* the next byte that the program reads */
};

#pragma clang attribute pop

static __always_inline struct firstbyte *firstbyte_row(const struct sock *sk,
						       const struct socket_life *life)
{
	struct firstbyte_key key = {}, others = {};

	remote_of(&key.to.remote, sk);
	key.to.port = port_remote(sk);
	__builtin_memcpy(key.to.comm, life->comm, sizeof(key.to.comm));
	return REMOTE_ROW(&firstbyte, &key, &others, &firstbyte_none, METER_firstbyte);
}

/*
 * It is established, and nothing of it was read: what comes with a SYN that was answered is not,
 * either (tcp_rcv_synsent_state_process(), 6.1 to 6.18).
 */
static __always_inline void firstbyte_awaited(const struct sock *sk, struct socket_life *life,
					      __u64 asked)
{
	const struct tcp_sock___read *tcp = (const void *)sk;

	life->awaited = asked;
	life->read = PLAIN(tcp, copied_seq);
}

static __always_inline void firstbyte_ended(const struct sock *sk, struct socket_life *life)
{
	struct firstbyte *row;

	if (!life || !life->awaited)
		return;
	life->awaited = 0;
	row = firstbyte_row(sk, life);
	if (row)
		COUNT(row, silent, 1);
}

/*
 * Data was copied to a program (tcp_recvmsg(), tcp_read_sock(); 6.1 to 6.18): also without any, and
 * where it only looks (MSG_PEEK).
 */
SEC("tp_btf/tcp_rcv_space_adjust")
int BPF_PROG(firstbyte_read, const struct sock *sk)
{
	const struct sock *plain = ARGUMENT(sk);
	const struct tcp_sock___read *tcp = (const void *)plain;
	struct socket_life *life;
	struct firstbyte *row;
	__u64 now, asked;

	if (!net_is_ours(PLAIN(plain, __sk_common.skc_net.net)))
		return 0;
	life = life_of(sk);
	if (!life || !life->awaited || life->read == PLAIN(tcp, copied_seq))
		return 0;
	now = bpf_ktime_get_ns();
	asked = life->awaited;
	life->awaited = 0;
	row = firstbyte_row(plain, life);
	if (!row)
		return 0;
	COUNT(row, answered, 1);
	SPAN_ADD(row, latency, now - asked);
	SPAN_ADD(row, answer, now - life->established);
	return 0;
}

#endif
