/* SPDX-License-Identifier: GPL-2.0 */
/* What programs ask of sockets, and system calls. */

static __always_inline int socket_call(const struct sock *sk, __u64 cookie, int ret, int flags,
				       bool sends)
{
	struct probe_event *e = socket_event(sk, cookie, TRACEPOINT);

	if (!e)
		return 0;
	e->so_family = PLAIN(sk, __sk_common.skc_family);
	e->so_type = PLAIN(sk, sk_type);
	e->so_protocol = PLAIN(sk, sk_protocol);
	e->so_flags = flags;
	e->so_ret = ret;
	e->have |= HAVE(SOCK) | HAVE(SOFLAGS) | HAVE(SORET);
	if (sends)
		FIRE(e, sock_send_length, socket_send);
	else
		FIRE(e, sock_recv_length, socket_receive);
	event_end(e);
	return 0;
}

SEC("?tp_btf/sock_send_length")
int BPF_PROG(sock_send_length, struct sock *sk, int ret, int flags)
{
	return socket_call(ARGUMENT(sk), NEED(CID) ? bpf_get_socket_cookie(sk) : 0, ret, flags,
			   true);
}

SEC("?tp_btf/sock_recv_length")
int BPF_PROG(sock_recv_length, struct sock *sk, int ret, int flags)
{
	return socket_call(ARGUMENT(sk), NEED(CID) ? bpf_get_socket_cookie(sk) : 0, ret, flags,
			   false);
}

#define ARGUMENTS	(HAVE(ARG0) | HAVE(ARG1) | HAVE(ARG2) | HAVE(ARG3) | HAVE(ARG4) | \
			 HAVE(ARG5))

static __always_inline struct probe_event *call_event(void)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	const struct net *net = task->nsproxy ? task->nsproxy->net_ns : NULL;
	struct probe_event *e;

	if (query.netns && (!net || net->net_cookie != query.netns))
		return NULL;
	e = event_begin(net, PREEMPTIBLE);
	if (e)
		task_fill(e, query.need);
	return e;
}

/* Their layout is that of every such event: events/syscalls/.../format. */
struct syscall_enter {
	__u64 common;
	__s32 number, unused;	/* read as 4 bytes: a call without arguments has no more */
	__u64 arg[6];
};

_Static_assert(GROUP_ARG5 == GROUP_ARG0 + 5, "arguments_have() sets their bits at once");

/* The first `nr` are there. */
static __always_inline void arguments_have(struct probe_event *e, __u32 nr)
{
	e->have |= ((1ull << nr) - 1) << GROUP_ARG0;
}

/* Behind the arguments that the call has, the kernel left anything: those are absent. */
static __always_inline void arguments_fill(struct probe_event *e, struct syscall_enter *ctx)
{
	__u64 nr = bpf_get_attach_cookie(ctx);

	if (nr <= 6 && !bpf_probe_read_kernel(e->arg, nr * sizeof(e->arg[0]), ctx->arg))
		arguments_have(e, nr);
}

SEC("tp")
int syscall_enter(struct syscall_enter *ctx)
{
	struct probe_event *e = call_event();

	if (!e)
		return 0;
	stacks_fill(ctx, e);
	e->syscall = (__u32)ctx->number;
	if (NEED_ANY(ARGUMENTS))
		arguments_fill(e, ctx);
	e->have |= HAVE(CALL);
	FIRE(e, syscall_enter, syscall_entry);
	event_end(e);
	return 0;
}

struct syscall_exit {
	__u64 common;
	__s64 number, ret;
};

SEC("tp")
int syscall_exit(struct syscall_exit *ctx)
{
	struct probe_event *e = call_event();

	if (!e)
		return 0;
	stacks_fill(ctx, e);
	e->syscall = (__u32)ctx->number;
	e->retval = ctx->ret;
	e->failure = ctx->ret < 0 && ctx->ret >= -4095 ? -ctx->ret : 0;
	e->have |= HAVE(RETVAL) | HAVE(CALL);
	FIRE(e, syscall_exit, syscall_return);
	event_end(e);
	return 0;
}
