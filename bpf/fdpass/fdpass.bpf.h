/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads the control messages of sendmsg() and recvmsg(). Before a descriptor leaves it is noted by
 * whom: whoever receives it may be quicker than the call that sends it returns.
 */
#ifndef NICPROBE_FDPASS_BPF_H
#define NICPROBE_FDPASS_BPF_H

#include <asm/unistd.h>

#include "bpf/fdpass/fdpass_kind.bpf.h"
#include "bpf/host/call.bpf.h"
#include "bpf/host/socket.bpf.h"

#define AF_UNIX		1
#define SOL_SOCKET	1
#define SCM_RIGHTS	1
#define MSG_PEEK	2
#define FDPASS_MOST_MESSAGES 1024	/* UIO_MAXIOV */
#define FDPASS_MOST_PARTS 16	/* control messages of one message; the kernel makes few */
#define FDPASS_MOST	253	/* SCM_MAX_FD */

REMOTE_MAP(fdpass);
static const struct fdpass fdpass_none;

struct fdpass_flight {		/* a file on its way… */
	__u64 socket;		/* …to this one; 0: by the address of a datagram, not known */
	__u64 file;
};

struct fdpass_flown {
	char from[COMM_SIZE];
	__s32 count;
};

#define FDPASS_GONE	(-0x40000000)	/* another CPU is about to delete it */
#define FDPASS_TRIES	8		/* until it has */

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, FDPASS_FLIGHTS);
	__type(key, struct fdpass_flight);
	__type(value, struct fdpass_flown);
} fdpass_flights SEC(".maps");

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct unix_sock {
	struct sock *peer;
};

#pragma clang attribute pop

struct fdpass_message {		/* struct user_msghdr, of 64 bits */
	__u64 name;
	__u32 name_length, unused;
	__u64 iov, iov_length;
	__u64 control, control_length;
	__u64 flags;
};

#define FDPASS_STRIDE	(sizeof(struct fdpass_message) + 8)	/* of struct mmsghdr */

struct fdpass_part {		/* struct cmsghdr, of 64 bits */
	__u64 length;
	__s32 level, type;
};

enum fdpass_stage { FDPASS_LEAVES, FDPASS_SENT, FDPASS_FAILED, FDPASS_RECEIVED, FDPASS_PEEKED };

/* What the loops pass on. */
struct fdpass_walk {
	const struct sock *sk;	/* of the call */
	__u64 at;		/* of the first message */
	__u32 done;		/* messages that were sent */
	__u32 stage;
	__u64 socket;		/* that receives */
	__u64 control, end;
	__u64 fds;
};

static __always_inline void fdpass_count(struct fdpass_key *key, const struct file *file,
					 bool received)
{
	struct fdpass_key others = {};
	struct fdpass *row;

	fdpass_kind(key, file);
	row = REMOTE_ROW(&fdpass, key, &others, &fdpass_none, METER_fdpass);
	if (!row)
		return;
	if (received)
		COUNT(row, received, 1);
	else
		COUNT(row, sent, 1);
}

static __always_inline void fdpass_leaves(const struct fdpass_flight *flight)
{
	struct fdpass_flown *flown, new = { .count = 1 };

	bpf_get_current_comm(new.from, sizeof(new.from));
	for (int i = 0; i < FDPASS_TRIES; i++) {
		if (!bpf_map_update_elem(&fdpass_flights, flight, &new, BPF_NOEXIST))
			return;
		flown = bpf_map_lookup_elem(&fdpass_flights, flight);
		if (flown && __sync_fetch_and_add(&flown->count, 1) >= 0) {
			__builtin_memcpy(flown->from, new.from, sizeof(flown->from));
			return;
		}
	}
}

static __always_inline void fdpass_ends(const struct fdpass_flight *flight,
					struct fdpass_flown *flown)
{
	if (__sync_val_compare_and_swap(&flown->count, 1, FDPASS_GONE) == 1)
		bpf_map_delete_elem(&fdpass_flights, flight);
	else
		__sync_fetch_and_add(&flown->count, -1);
}

static __always_inline void fdpass_received(struct fdpass_flight *flight, const struct file *file,
					    bool peeks)
{
	struct fdpass_flown *flown = bpf_map_lookup_elem(&fdpass_flights, flight);
	struct fdpass_key key = {};

	if (!flown || flown->count <= 0) {
		flight->socket = 0;
		flown = bpf_map_lookup_elem(&fdpass_flights, flight);
	}
	bpf_get_current_comm(key.to, sizeof(key.to));
	if (flown && flown->count > 0) {
		__builtin_memcpy(key.from, flown->from, sizeof(key.from));
		if (!peeks)
			fdpass_ends(flight, flown);
	}
	fdpass_count(&key, file, true);
}

static long fdpass_fd(__u32 nr, struct fdpass_walk *w)
{
	struct fdpass_flight flight = { .socket = w->socket };
	struct fdpass_flown *flown;
	struct fdpass_key key = {};
	const struct file *file;
	__s32 fd;

	if (bpf_probe_read_user(&fd, sizeof(fd), (void *)w->fds + nr * sizeof(fd)))
		return 1;
	file = file_of(fd);
	flight.file = (__u64)file;
	switch (w->stage) {
	case FDPASS_LEAVES:
		if (file)
			fdpass_leaves(&flight);
		break;
	case FDPASS_FAILED:
		flown = bpf_map_lookup_elem(&fdpass_flights, &flight);
		if (flown && flown->count > 0)
			fdpass_ends(&flight, flown);
		break;
	case FDPASS_SENT:
		bpf_get_current_comm(key.from, sizeof(key.from));
		fdpass_count(&key, file, false);
		break;
	default:
		fdpass_received(&flight, file, w->stage == FDPASS_PEEKED);
	}
	return 0;
}

static long fdpass_part(__u32 nr, struct fdpass_walk *w)
{
	struct fdpass_part part;
	__u64 fds;

	if (w->control + sizeof(part) > w->end ||
	    bpf_probe_read_user(&part, sizeof(part), (void *)w->control) ||
	    part.length < sizeof(part) || part.length > w->end - w->control)
		return 1;
	fds = (part.length - sizeof(part)) / sizeof(__s32);
	w->fds = w->control + sizeof(part);
	w->control += (part.length + 7) & ~7ull;
	if (part.level == SOL_SOCKET && part.type == SCM_RIGHTS)
		bpf_loop(fds < FDPASS_MOST ? fds : FDPASS_MOST, fdpass_fd, w, 0);
	return 0;
}

/* Where a message without an address goes: unix_peer(), 6.1 to 6.18. 0: not known. */
static __always_inline __u64 fdpass_peer(const struct fdpass_walk *w,
					 const struct fdpass_message *m)
{
	const struct unix_sock *u = (const void *)w->sk;

	if ((m->name && m->name_length) || !bpf_core_field_exists(struct unix_sock, peer))
		return 0;
	return (__u64)PLAIN(u, peer);
}

static long fdpass_message(__u32 nr, struct fdpass_walk *w)
{
	struct fdpass_message m;

	if (bpf_probe_read_user(&m, sizeof(m), (void *)w->at + nr * FDPASS_STRIDE))
		return 1;
	if (!m.control || !m.control_length)
		return 0;
	if (w->stage == FDPASS_SENT && nr >= w->done)
		w->stage = FDPASS_FAILED;
	w->socket = w->stage >= FDPASS_RECEIVED ? (__u64)w->sk : fdpass_peer(w, &m);
	w->control = m.control;
	w->end = m.control + m.control_length;
	bpf_loop(FDPASS_MOST_PARTS, fdpass_part, w, 0);
	return 0;
}

static __always_inline void fdpass_messages(struct fdpass_walk *w, const void *regs, __u32 nr)
{
	const struct sock *sk = socket_of(call_argument(regs, 0));

	if (!sk || PLAIN(sk, __sk_common.skc_family) != AF_UNIX ||
	    !net_is_ours(PLAIN(sk, __sk_common.skc_net.net)))
		return;
	w->sk = sk;
	w->at = call_argument(regs, 1);
	bpf_loop(nr < FDPASS_MOST_MESSAGES ? nr : FDPASS_MOST_MESSAGES, fdpass_message, w, 0);
}

static __always_inline void fdpass_called(const void *regs, long ret)
{
	struct fdpass_walk w = {};
	__u32 nr = 1;

	switch (call_number(regs)) {
	case __NR_sendmmsg:
		nr = call_argument(regs, 2);
		w.done = ret > 0 ? ret : 0;
		w.stage = FDPASS_SENT;
		break;
	case __NR_sendmsg:
		w.done = ret >= 0;
		w.stage = FDPASS_SENT;
		break;
	case __NR_recvmmsg:
		nr = ret > 0 ? ret : 0;
		w.stage = call_argument(regs, 3) & MSG_PEEK ? FDPASS_PEEKED : FDPASS_RECEIVED;
		break;
	case __NR_recvmsg:
		nr = ret >= 0;
		w.stage = call_argument(regs, 2) & MSG_PEEK ? FDPASS_PEEKED : FDPASS_RECEIVED;
		break;
	default:
		return;
	}
	if (nr && !call_is_compat(regs))
		fdpass_messages(&w, regs, nr);
}

SEC("?tp_btf/sys_enter")
int BPF_PROG(fdpass_enter, const struct pt_regs *regs, long number)
{
	struct fdpass_walk w = { .stage = FDPASS_LEAVES };

	if ((number != __NR_sendmsg && number != __NR_sendmmsg) || call_is_compat(regs))
		return 0;
	fdpass_messages(&w, regs, number == __NR_sendmsg ? 1 : call_argument(regs, 2));
	return 0;
}

#endif
