/* SPDX-License-Identifier: GPL-2.0 */
/* Tells each event of one kind, of TCP sockets of a network namespace, to user space. */
#define UNTOLD	/* bpf/host/lines.c opens it as it is */
#include "bpf/connect/connect_end.bpf.h"
#include "bpf/host/life.bpf.h"
#include "bpf/host/line.bpf.h"
#include "bpf/host/line_window.bpf.h"
#include "bpf/session/session_end.bpf.h"
#include "bpf/socklife/socklife_follow.bpf.h"
#include "bpf/tcp/tcp_again.bpf.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct file;

struct bpf_iter__task_file {
	struct task_struct *task;
	struct file *file;
};

struct socket___sock {
	struct sock *sk;
};

#pragma clang attribute pop

/* What only these lines need of a socket. */
struct line_life {
	__u64 changed;		/* CLOCK_MONOTONIC ns of its last change of state; 0: not known */
	__u64 listener;		/* address of whose connection it is; 0: not known */
	__u32 listens;		/* its port */
	__u32 waiting, backlog;	/* of its listener's queue for accept(), as it came */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct line_life);
} line_lives SEC(".maps");

static __always_inline struct line_life *line_life_begin(const struct sock *sk)
{
	return bpf_sk_storage_get(&line_lives, (void *)sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
}

static __always_inline void connected(const struct sock *plain, struct socket_life *life,
				      __u64 asked)
{
}

static __always_inline void attempt_ended(const struct sock *plain, const struct socket_life *life,
					  bool established, __u64 now)
{
	struct host_line l;

	if (wanted.event != HOST_connect)
		return;
	line_of(&l, plain, life);
	l.end = established ? CONNECT_ESTABLISHED : connect_end_of(plain);
	l.span = now - life->asked;
	line_tell(&l);
}

/* As bpf/accept/accept.bpf.h has it. */
static __always_inline void came(const struct sock *sk, const struct sock *plain)
{
	const struct sock___backlog *queue = (const void *)plain;
	struct line_life *more = wanted.event == HOST_accept ? line_life_begin(sk) : NULL;

	if (!more)
		return;
	more->waiting = PLAIN(queue, sk_ack_backlog);
	more->backlog = PLAIN(queue, sk_max_ack_backlog);
	more->listener = listener_of(plain);
	more->listens = port_local((const void *)more->listener);
}

static __always_inline void accepted(const struct sock *sk, const struct sock *plain,
				     const struct socket_life *life)
{
	struct line_life *more;
	struct host_line l;

	if (wanted.event != HOST_accept)
		return;
	line_of(&l, plain, life);
	l.half_open = -1;
	more = bpf_sk_storage_get(&line_lives, (void *)sk, NULL, 0);
	if (more) {
		l.half_open = listener_syns(more->listener, more->listens);
		l.waiting = more->waiting;
		l.backlog = more->backlog;
	}
	line_tell(&l);
}

static __always_inline void connection_ended(const struct sock *plain, struct socket_life *life,
					     int old, __u64 now)
{
	const struct tcp_sock___totals *tcp = (const void *)plain;
	struct host_line l;

	if (wanted.event != HOST_sessions)
		return;
	line_of(&l, plain, life);
	l.end = session_end_of(plain, old);
	l.received = session_received(plain);
	l.sent = PLAIN(tcp, bytes_sent) - PLAIN(tcp, bytes_retrans);
	l.segments = PLAIN(tcp, total_retrans);
	l.span = SPAN_UNKNOWN;
	if (life && life->established) {
		l.span = now - life->established;
		l.side = life->serves ? SIDE_SERVER : SIDE_CLIENT;
	}
	line_tell(&l);
}

static __always_inline void state_told(const struct sock *sk, const struct sock *plain, int old,
				       int new)
{
	struct line_life *more = line_life_begin(sk);
	struct host_line l;

	line_of(&l, plain, life_of(sk));
	l.span = SPAN_UNKNOWN;
	if (more && more->changed && old != TCP_CLOSE && old != TCP_LISTEN)
		l.span = l.time - more->changed;
	if (more)
		more->changed = l.time;
	l.old_state = old;
	l.state = new;
	line_tell(&l);
}

static __always_inline void listening(const struct sock *sk, const struct sock *plain)
{
	const struct sock___backlog *queue = (const void *)plain;
	struct host_line l;

	if (wanted.event != HOST_listen)
		return;
	line_of(&l, plain, life_of(sk));
	l.backlog = PLAIN(queue, sk_max_ack_backlog);
	line_tell(&l);
}

static __always_inline int state_changed(const struct sock *sk, int old, int new, bool again)
{
	const struct sock *plain = ARGUMENT(sk);

	if (!tcp_is_ours(plain) || !mine(sk, again))
		return 0;
	life_follow(sk, plain, old, new);
	if (new == TCP_LISTEN)
		listening(sk, plain);
	if (wanted.event == HOST_states)
		state_told(sk, plain, old, new);
	if (wanted.event == HOST_window && lived(old))
		window_told(sk, plain, window_state(plain));
	return 0;
}

static __always_inline int sent_again(const struct sock *sk, const struct sk_buff *skb, bool again)
{
	const struct sock *plain = ARGUMENT(sk);
	struct host_line l;

	if (!tcp_is_ours(plain) || !mine(sk, again))
		return 0;
	line_of(&l, plain, life_of(sk));
	l.end = tcp_again_why(plain);
	l.segments = tcp_again_segments(ARGUMENT(skb));
	l.state = PLAIN(plain, __sk_common.skc_state);
	line_tell(&l);
	return 0;
}

static __always_inline void socket_ended(const struct sock *plain,
					 const struct socklife_state *life)
{
	struct host_line l;

	line_begin(&l, NULL);
	if (is_internet(plain)) {
		ends_put(&l, plain, has_ports(plain) ? port_local(plain) : 0);
		way_put(&l, plain);
	}
	remote_connected(&l.remote, plain);
	if (!has_ports(plain) || !remote_is_there(&l.remote))
		l.remote_port = 0;
	l.family = PLAIN(plain, __sk_common.skc_family);
	l.type = PLAIN(plain, sk_type);
	l.protocol = PLAIN(plain, sk_protocol);
	l.span = SPAN_UNKNOWN;
	l.received = l.sent = l.receives = l.sends = COUNT_UNKNOWN;
	if (life) {
		l.pid = life->pid;
		__builtin_memcpy(l.comm, life->comm, sizeof(l.comm));
	}
	if (life && life->since) {
		l.span = l.time - life->since;
		l.received = life->received;
		l.sent = life->sent;
		l.receives = life->receives;
		l.sends = life->sends;
	}
	line_tell(&l);
}

/* Two copies, of which one counts an event: as in bpf/host/host_events.bpf.c. */
SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(line_state, const struct sock *sk, int old, int new)
{
	return state_changed(sk, old, new, false);
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(line_state_again, const struct sock *sk, int old, int new)
{
	return state_changed(sk, old, new, true);
}

SEC("?tp_btf/tcp_retransmit_skb")
int BPF_PROG(line_sent, const struct sock *sk, const struct sk_buff *skb)
{
	return sent_again(sk, skb, false);
}

SEC("?tp_btf/tcp_retransmit_skb")
int BPF_PROG(line_sent_again, const struct sock *sk, const struct sk_buff *skb)
{
	return sent_again(sk, skb, true);
}

/* Of a request, which is no socket yet: its owner is who listens. */
SEC("?tp_btf/tcp_retransmit_synack")
int BPF_PROG(line_synack, const struct sock *sk, const struct request_sock *req)
{
	const struct sock *plain = ARGUMENT(sk), *request = (const void *)ARGUMENT(req);
	struct host_line l;

	if (!tcp_is_ours(plain))
		return 0;
	line_begin(&l, life_of(sk));
	ends_put(&l, request, PLAIN(request, __sk_common.skc_num));
	l.end = TCP_AGAIN_SYNACK;
	l.segments = 1;
	l.state = TCP_SYN_RECV;
	line_tell(&l);
	return 0;
}

static __always_inline int socket_owned(const struct sock *sk, const struct task_struct *task)
{
	struct socklife_state *life;

	if (is_tcp(sk) || !net_is_ours(PLAIN(sk, __sk_common.skc_net.net)))
		return 0;
	life = bpf_sk_storage_get(&socklife_states, (void *)sk, NULL,
				  BPF_SK_STORAGE_GET_F_CREATE);
	if (!life || *life->comm)
		return 0;
	life->pid = PLAIN(task, tgid);
	bpf_core_read_str(life->comm, sizeof(life->comm), &task->comm);
	return 0;
}

/*
 * Before any line: whose the sockets are that are there already, by the files of all processes. Of
 * those that share one, the first is named.
 */
SEC("iter/task_file")
int line_owners(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	struct socket___sock *socket;
	struct socket_life *life;
	struct sock *sk;

	if (!task || !file)
		return 0;
	socket = (void *)bpf_sock_from_file(file);
	if (!socket)
		return 0;
	sk = socket->sk;
	if (sk && wanted.event == HOST_sockets)
		return socket_owned(sk, task);
	if (!sk || !tcp_is_ours(sk))
		return 0;
	life = life_begin(sk);
	if (!life || *life->comm)
		return 0;
	life->pid = task->tgid;
	bpf_core_read_str(life->comm, sizeof(life->comm), &task->comm);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
