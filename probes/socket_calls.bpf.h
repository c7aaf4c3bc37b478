/* SPDX-License-Identifier: GPL-2.0 */
/* Sockets are connected, accepted, bound, listen, and are closed. */

#include "bpf/common/descriptor.bpf.h"

#define EBADF		9
#define ENOTSOCK	88

/* A call that a task has begun, by its thread. */
struct socket_call {
	const struct sock *sk;
	__s32 fd;
	__u16 family, type, protocol;
	__u16 port;			/* 0 where `has_address` is not set */
	__u64 has_address;
	struct probe_address address;	/* the one of the call: to connect or to bind to */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, struct socket_call);
} socket_calls SEC(".maps");

static __always_inline void kind_read(struct socket_call *c, const struct sock *sk)
{
	c->sk = sk;
	c->family = PLAIN(sk, __sk_common.skc_family);
	c->type = PLAIN(sk, sk_type);
	c->protocol = PLAIN(sk, sk_protocol);
}

/* The address that a task names. Its page may be swapped out: then it stays unknown. */
static __always_inline void address_read(struct socket_call *c, const void *from)
{
	struct { __u16 family; __be16 port; __be32 v4; struct probe_address v6; } named;

	if (bpf_probe_read_user(&named, 8, from))
		return;
	if (named.family == AF_INET) {
		address_v4(&c->address, named.v4);
	} else if (named.family == AF_INET6) {
		if (bpf_probe_read_user(&c->address, sizeof(c->address), from + 8))
			return;
	} else {
		return;
	}
	c->port = bpf_ntohs(named.port);
	c->has_address = true;
}

/* Not a probe: keeps which socket a call is of until it returns. */
SEC("tp")
int socket_enter(struct syscall_enter *ctx)
{
	__u64 thread = bpf_get_current_pid_tgid(), probe = bpf_get_attach_cookie(ctx);
	struct socket_call c = { .fd = ctx->arg[0] };
	const struct sock *sk = socket_of(c.fd);

	if (!sk)
		return 0;
	kind_read(&c, sk);
	if (probe == PROBE_socket_connect || probe == PROBE_socket_bind)
		address_read(&c, (void *)ctx->arg[1]);
	if (bpf_map_update_elem(&socket_calls, &thread, &c, BPF_ANY))
		lose(LOST_CALL);
	return 0;
}

/* A place for an event of this socket, or of the current task; NULL: it is of another namespace. */
static __always_inline struct probe_event *socket_call_event(const struct sock *sk)
{
	const struct task_struct *task = (void *)bpf_get_current_task();
	const struct net *net = sk ? PLAIN(sk, __sk_common.skc_net.net) :
				     BPF_CORE_READ(task, nsproxy, net_ns);
	struct probe_event *e;

	if (!ours_plain(net, NULL) || query.ifindex)
		return NULL;
	e = event_begin(NULL, PREEMPTIBLE);
	if (!e)
		return NULL;
	e->netns = PLAIN(net, net_cookie);
	socket_fill(e, sk, 0, query.need | HAVE(ENDS));
	task_fill(e, query.need);
	return e;
}

static __always_inline void socket_kind_fill(struct probe_event *e, const struct socket_call *c)
{
	e->so_family = c->family;
	e->so_type = c->type;
	e->so_protocol = c->protocol;
	if (c->sk)
		e->have |= HAVE(SOCK);
}

/* The ends as the call names them: a connect that fails leaves none to the socket. */
static __always_inline void named_fill(struct probe_event *e, const struct socket_call *c,
				       __u64 probe, bool fails)
{
	if (probe == PROBE_socket_connect) {
		e->raddr = c->address;
		e->rport = c->port;
		e->have &= ~HAVE(FAR);
		e->have |= c->has_address ? HAVE(FAR) : 0;
	} else if (probe == PROBE_socket_bind && fails && c->has_address) {
		e->laddr = c->address;
		e->lport = c->port;
		e->have |= HAVE(ENDS);
	}
}

/* The kind of socket, and what it is now, if it is still there. */
static __always_inline const struct sock *socket_returns(struct socket_call *c, __u64 probe,
							 __s64 ret)
{
	const struct sock *sk = NULL;

	if (probe == PROBE_socket_accept && ret >= 0) {
		sk = socket_of(ret);
		if (sk)
			kind_read(c, sk);
	} else if (c->sk) {
		/* another thread may have closed it */
		sk = socket_of(c->fd) == c->sk ? c->sk : NULL;
	}
	return sk;
}

SEC("tp")
int socket_exit(struct syscall_exit *ctx)
{
	__u64 thread = bpf_get_current_pid_tgid(), probe = bpf_get_attach_cookie(ctx);
	struct socket_call *begun = bpf_map_lookup_elem(&socket_calls, &thread), c = {};
	const struct sock *sk;
	struct probe_event *e;
	__s64 ret = ctx->ret;

	if (begun) {
		c = *begun;
		bpf_map_delete_elem(&socket_calls, &thread);
	} else if (ret == -EBADF || ret == -ENOTSOCK) {
		return 0;
	}
	sk = socket_returns(&c, probe, ret);
	e = socket_call_event(sk);
	if (!e)
		return 0;
	socket_kind_fill(e, &c);
	named_fill(e, &c, probe, ret < 0);
	e->so_ret = e->retval = ret;
	e->failure = ret < 0 ? -ret : 0;
	e->have |= HAVE(SORET) | HAVE(RETVAL);
	if (probe == PROBE_socket_connect)
		FIRE(e, socket_exit, socket_connect);
	else if (probe == PROBE_socket_accept)
		FIRE(e, socket_exit, socket_accept);
	else if (probe == PROBE_socket_bind)
		FIRE(e, socket_exit, socket_bind);
	else
		FIRE(e, socket_exit, socket_listen);
	event_end(e);
	return 0;
}

/* Once for each socket, whose last file descriptor is gone: not those of the kernel. */
SEC("cgroup/sock_release")
int sock_release(struct bpf_sock *ctx)
{
	struct socket_call c = {};
	const struct sock *sk;
	struct probe_event *e;

	if (!bpf_cast_to_kern_ctx)
		return 1;
	bpf_get_socket_cookie(ctx);
	sk = bpf_cast_to_kern_ctx(ctx);
	e = socket_call_event(sk);
	if (!e)
		return 1;
	kind_read(&c, sk);
	socket_kind_fill(e, &c);
	FIRE(e, sock_release, socket_close);
	event_end(e);
	return 1;
}
