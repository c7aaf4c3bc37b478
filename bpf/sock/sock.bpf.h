/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts calls to sockets as they return: the tracepoint is that of all system calls, and most of
 * them end at their number.
 */
#ifndef NICPROBE_SOCK_BPF_H
#define NICPROBE_SOCK_BPF_H

#include <asm/errno.h>
#include <asm/unistd.h>

#include "bpf/common/descriptor.bpf.h"
#include "bpf/host/call.bpf.h"
#include "bpf/host/socket.bpf.h"
#include "bpf/sock/sock.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, SOCK_ROWS);
	__type(key, struct sock_key);
	__type(value, struct sock_row);
} sock SEC(".maps");
static const struct sock_row sock_none;

enum sock_how {			/* what a call has, besides a socket as its first argument */
	SOCK_BYTES = 1,		/* its result is their number */
	SOCK_MESSAGES = 2,	/* its result is that of messages: struct mmsghdr at the second */
	SOCK_CREATES = 4,	/* no socket, but family, type and protocol */
	SOCK_SPLICES = 8,	/* one at the first argument or at the third */
};

#define SOCK_NUMBERS	512	/* 6.18 ends at 469 */
#define SOCK_MOST_MESSAGES 1024	/* UIO_MAXIOV */
#define SOCK_STREAM	1
#define SOCK_DGRAM	2
#define SOCK_RAW	3
#define SOCK_TYPE_MASK	0xf
#define AF_NETLINK	16
#define IPPROTO_UDP	17
#define SOCK_RESTARTS_FROM 512	/* ERESTARTSYS to ERESTART_RESTARTBLOCK: linux/errno.h */
#define SOCK_RESTARTS_TO 516

struct sock_number {
	__u8 call, how;
};

static const struct sock_number sock_numbers[SOCK_NUMBERS] = {
	[__NR_socket] = { SOCK_CALL_socket, SOCK_CREATES },
	[__NR_socketpair] = { SOCK_CALL_socketpair, SOCK_CREATES },
	[__NR_bind] = { .call = SOCK_CALL_bind },
	[__NR_listen] = { .call = SOCK_CALL_listen },
	[__NR_connect] = { .call = SOCK_CALL_connect },
	[__NR_accept] = { .call = SOCK_CALL_accept },
	[__NR_accept4] = { .call = SOCK_CALL_accept },
	[__NR_sendto] = { SOCK_CALL_send, SOCK_BYTES },
	[__NR_sendmsg] = { SOCK_CALL_send, SOCK_BYTES },
	[__NR_sendmmsg] = { SOCK_CALL_send, SOCK_MESSAGES },
	[__NR_write] = { SOCK_CALL_send, SOCK_BYTES },
	[__NR_writev] = { SOCK_CALL_send, SOCK_BYTES },
	[__NR_pwritev2] = { SOCK_CALL_send, SOCK_BYTES },
	[__NR_sendfile] = { SOCK_CALL_send, SOCK_BYTES },
	[__NR_recvfrom] = { SOCK_CALL_recv, SOCK_BYTES },
	[__NR_recvmsg] = { SOCK_CALL_recv, SOCK_BYTES },
	[__NR_recvmmsg] = { SOCK_CALL_recv, SOCK_MESSAGES },
	[__NR_read] = { SOCK_CALL_recv, SOCK_BYTES },
	[__NR_readv] = { SOCK_CALL_recv, SOCK_BYTES },
	[__NR_preadv2] = { SOCK_CALL_recv, SOCK_BYTES },
	[__NR_splice] = { SOCK_CALL_recv, SOCK_BYTES | SOCK_SPLICES },
	[__NR_shutdown] = { .call = SOCK_CALL_shutdown },
	[__NR_setsockopt] = { .call = SOCK_CALL_setsockopt },
	[__NR_getsockopt] = { .call = SOCK_CALL_getsockopt },
	[__NR_getsockname] = { .call = SOCK_CALL_getsockname },
	[__NR_getpeername] = { .call = SOCK_CALL_getpeername },
};

/* Slot + 1 of an error; 0: it has none of its own. */
static const __u8 sock_errors[256] = {
#define E(name) [name] = SOCK_##name + 1,
	SOCK_ERRORS(E)
#undef E
};

struct mmsghdr_user {		/* include/linux/socket.h, of 64 bits */
	__u8 header[56];
	__u32 len, unused;
};

struct sock_messages {
	struct sock_row *row;
	const struct mmsghdr_user *at;
	bool unread;
};

static __always_inline void sock_size(struct sock_row *row, __u64 bytes)
{
	row->bytes += bytes;
	HIST_ADD(row->size, counts_slot(bytes), bytes);
}

static long sock_message(__u32 nr, struct sock_messages *m)
{
	__u32 len;

	if (!m->row)
		return 1;
	if (bpf_probe_read_user(&len, sizeof(len), &m->at[nr].len)) {
		m->unread = true;
		return 1;
	}
	sock_size(m->row, len);
	return 0;
}

static __always_inline void sock_sizes(struct sock_row *row, const void *regs, __u64 nr)
{
	struct sock_messages m = { .row = row, .at = (void *)call_argument(regs, 1) };

	bpf_loop(nr < SOCK_MOST_MESSAGES ? nr : SOCK_MOST_MESSAGES, sock_message, &m, 0);
	row->unread += m.unread;
}

static __always_inline void sock_error(struct sock_row *row, __u64 error)
{
	__u32 slot;

	if (error >= SOCK_RESTARTS_FROM && error <= SOCK_RESTARTS_TO)
		error = EINTR;
	slot = error < sizeof(sock_errors) ? sock_errors[error] : 0;
	slot = slot ? slot - 1 : SOCK_EOTHER;
	barrier_var(slot);
	if (slot < NR_SOCK_ERRORS)
		row->errors[slot]++;
	row->failed += slot >= NR_SOCK_PENDING;
}

/* What makes no difference is no part of a key: its text has none of it. */
static __always_inline void sock_key_fill(struct sock_key *key, __u16 family, __u16 type,
					  __u16 protocol)
{
	bool internet = family == AF_INET || family == AF_INET6;

	if (internet && !protocol)	/* as inet_create() chooses */
		protocol = type == SOCK_STREAM ? IPPROTO_TCP : type == SOCK_DGRAM ? IPPROTO_UDP : 0;
	key->family = family;
	key->type = family == AF_NETLINK ? SOCK_RAW : type;
	key->protocol = internet || family == AF_NETLINK ? protocol : 0;
}

/* False: no socket of ours. */
static __always_inline bool sock_kind(struct sock_key *key, const struct sock *sk)
{
	if (!sk || !net_is_ours(PLAIN(sk, __sk_common.skc_net.net)))
		return false;
	sock_key_fill(key, PLAIN(sk, __sk_common.skc_family), PLAIN(sk, sk_type),
		      PLAIN(sk, sk_protocol));
	return true;
}

/* Without a socket, as the call failed: what was asked for. */
static __always_inline bool sock_asked(struct sock_key *key, const void *regs)
{
	if (!task_is_ours())
		return false;
	sock_key_fill(key, call_argument(regs, 0), call_argument(regs, 1) & SOCK_TYPE_MASK,
		      call_argument(regs, 2));
	return true;
}

/* Which socket it is about; what a call created is known by its result. */
static __always_inline bool sock_about(struct sock_key *key, const void *regs, __u8 how, long ret)
{
	if (how & SOCK_CREATES) {
		if (key->call == SOCK_CALL_socket && ret >= 0 && sock_kind(key, socket_of(ret)))
			return true;
		return sock_asked(key, regs);
	}
	if (how & SOCK_SPLICES && sock_kind(key, socket_of(call_argument(regs, 2)))) {
		key->call = SOCK_CALL_send;
		return true;
	}
	return sock_kind(key, socket_of(call_argument(regs, 0)));
}

static __always_inline void sock_count(struct sock_key *key, const void *regs, __u8 how, long ret)
{
	struct sock_key others = {};
	struct sock_row *row;

	bpf_get_current_comm(key->comm, sizeof(key->comm));
	row = REMOTE_ROW(&sock, key, &others, &sock_none, METER_sock);
	if (!row)
		return;
	row->calls++;
	if (ret < 0)
		sock_error(row, -ret);
	else if (how & SOCK_BYTES)
		sock_size(row, ret);
	else if (how & SOCK_MESSAGES)
		sock_sizes(row, regs, ret);
}

static __always_inline void sock_called(const void *regs, long ret)
{
	__u32 number = call_number(regs);
	struct sock_key key = {};
	__u8 how;

	if (number >= SOCK_NUMBERS)
		return;
	barrier_var(number);
	if (number >= SOCK_NUMBERS || !sock_numbers[number].call || call_is_compat(regs))
		return;
	how = sock_numbers[number].how;
	key.call = sock_numbers[number].call;
	if (sock_about(&key, regs, how, ret))
		sock_count(&key, regs, how, ret);
}

#endif
