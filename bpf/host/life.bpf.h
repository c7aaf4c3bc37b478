/* SPDX-License-Identifier: GPL-2.0 */
/* Follows TCP sockets through their states, and remembers of each by whom and since when. */
#ifndef NICPROBE_LIFE_BPF_H
#define NICPROBE_LIFE_BPF_H

#include "bpf/common/again.bpf.h"
#include "bpf/host/socket.bpf.h"

/*
 * What an object makes of it. `sk`: to ask for its storage; `plain`: to read; `life`: NULL where
 * we know nothing of it.
 */
static __always_inline void attempt_ended(const struct sock *plain, const struct socket_life *,
					  bool established, __u64 now);
/* A connection for a listener, of whose socket its own is still a copy. */
static __always_inline void came(const struct sock *sk, const struct sock *plain);
/* It is established; connect() was called at `asked`. */
static __always_inline void connected(const struct sock *plain, struct socket_life *, __u64 asked);
static __always_inline void accepted(const struct sock *sk, const struct sock *plain,
				     const struct socket_life *);
static __always_inline void connection_ended(const struct sock *plain, struct socket_life *,
					     int old, __u64 now);

/* The current task does it: connect(), listen(), close() and shutdown() lead here. */
static __always_inline void life_named(struct socket_life *life)
{
	if (!life)
		return;
	bpf_get_current_comm(life->comm, sizeof(life->comm));
	life->pid = bpf_get_current_pid_tgid() >> 32;
}

static __always_inline void life_asks(const struct sock *sk)
{
	struct socket_life *life = life_begin(sk);

	if (!life)
		return;
	life_named(life);
	life->asked = bpf_ktime_get_ns();
	life->established = life->serves = life->segments = life->awaited = 0;
}

/* Both ends may ask at once, or a socket itself: its attempt goes on in SYN_RECV then. */
static __always_inline bool life_asked(const struct socket_life *life, int old)
{
	return life->asked && (old == TCP_SYN_SENT || old == TCP_SYN_RECV);
}

static __always_inline void life_established(const struct sock *sk, const struct sock *plain,
					     int old)
{
	struct socket_life *life = life_begin(sk);
	__u64 now = bpf_ktime_get_ns();

	if (!life)
		return;
	life->established = now;
	life->segments = 0;
	if (life_asked(life, old)) {
		attempt_ended(plain, life, true, now);
		connected(plain, life, life->asked);
	}
	life->serves = old == TCP_SYN_RECV && !life->asked;
	life->asked = 0;
	if (old == TCP_SYN_RECV && life->serves)
		accepted(sk, plain, life);
}

/* Was it established, in these states? */
static __always_inline bool lived(int old)
{
	return old != TCP_SYN_SENT && old != TCP_SYN_RECV && old != TCP_LISTEN && old != TCP_CLOSE;
}

static __always_inline void life_closed(const struct sock *sk, const struct sock *plain, int old)
{
	struct socket_life *life = life_of(sk);
	__u64 now = bpf_ktime_get_ns();

	if (life && life_asked(life, old))
		attempt_ended(plain, life, false, now);
	if (lived(old))
		connection_ended(plain, life, old, now);
	if (life)
		life->asked = life->established = 0;
}

static __always_inline void life_follow(const struct sock *sk, const struct sock *plain, int old,
					int new)
{
	struct socket_life *life;

	switch (new) {
	case TCP_LISTEN:
		life_named(life_begin(sk));
		break;
	case TCP_SYN_SENT:
		life_asks(sk);
		break;
	case TCP_SYN_RECV:
		if (old == TCP_LISTEN)
			came(sk, plain);
		break;
	case TCP_ESTABLISHED:
		life_established(sk, plain, old);
		break;
	case TCP_FIN_WAIT1:	/* of a connection that was there before us, or its listener was */
	case TCP_LAST_ACK:
		life = life_of(sk);
		/* fast open: a program had it, and closes it before the handshake is complete */
		if (life && old == TCP_SYN_RECV && !life->asked)
			accepted(sk, plain, life);
		if (life && !*life->comm)
			life_named(life);
		break;
	case TCP_CLOSE:
		life_closed(sk, plain, old);
	}
}

#endif
