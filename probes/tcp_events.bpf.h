/* SPDX-License-Identifier: GPL-2.0 */
/* What happens to TCP connections, and to the queue of UDP sockets. */

static __always_inline struct probe_event *socket_event(const struct sock *sk, __u64 cookie,
							bool preemptible)
{
	const struct net *net = PLAIN(sk, __sk_common.skc_net.net);
	struct probe_event *e;

	if (!ours_plain(net, NULL) || query.ifindex)
		return NULL;
	e = event_begin(NULL, preemptible);
	if (!e)
		return NULL;
	e->netns = PLAIN(net, net_cookie);
	socket_fill(e, sk, cookie, query.need | HAVE(ENDS));
	task_fill(e, query.need);
	return e;
}

/* A function shows TIME_WAIT: only the other states are told here. */
#define TIME_WAIT_SEEN	SERVES(fn_time_wait, BIT(tcp_state_change))

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(inet_sock_set_state, const struct sock *sk, int old, int new)
{
	/* up to 6.13 a child is told before it has addresses, and with the cookie of its parent */
	bool unborn = old == TCP_LISTEN && new == TCP_SYN_RECV &&
		      !ARGUMENT(sk)->__sk_common.skc_dport;
	__u64 cookie = NEED(CID) && !unborn ? bpf_get_socket_cookie((void *)sk) : 0;
	struct probe_event *e;

	if ((!SERVES(inet_sock_set_state, ANY_PROBE) && !TIME_WAIT_SEEN) ||
	    ARGUMENT(sk)->sk_protocol != IPPROTO_TCP)
		return 0;
	e = socket_event(ARGUMENT(sk), cookie, TRACEPOINT);
	if (!e)
		return 0;
	if (unborn)
		e->have &= ~(HAVE(CID) | HAVE(ENDS) | HAVE(TCPENDS) | HAVE(TCPS));
	e->tcps_state = new;
	e->tcpls_state = old;
	e->tcpls_inferred = 0;
	e->sk_err = ARGUMENT(sk)->sk_err;
	e->have |= HAVE(TCPLS);
	FIRE(e, inet_sock_set_state, tcp_state_change);
	if (TIME_WAIT_SEEN) {
		e->source = SOURCE_inet_sock_set_state;
		e->probe = PROBE_tcp_state_change;
		event_take(e);
	}
	/*
	 * What waits is another, smaller socket, whose state no tracepoint tells (6.18): the full
	 * one is closed in its place.
	 */
	if ((old == TCP_FIN_WAIT2 || old == TCP_CLOSING) && new == TCP_CLOSE && !e->sk_err) {
		e->tcps_state = TCP_TIME_WAIT;
		e->tcpls_inferred = 1;
		FIRE(e, inet_sock_set_state, tcp_state_change);
	}
	if (!unborn)
		received_as(e);
	if (old == TCP_SYN_SENT && new == 1)
		FIRE(e, inet_sock_set_state, tcp_connect_established);
	if (old == TCP_SYN_RECV && new == 1)
		FIRE(e, inet_sock_set_state, tcp_accept_established);
	event_end(e);
	return 0;
}

/* The other end refuses: a RST answers the SYN. */
SEC("tp_btf/tcp_receive_reset")
int BPF_PROG(tcp_receive_reset, struct sock *sk)
{
	struct probe_event *e;

	if (ARGUMENT(sk)->__sk_common.skc_state != TCP_SYN_SENT)
		return 0;
	e = socket_event(ARGUMENT(sk), NEED(CID) ? bpf_get_socket_cookie(sk) : 0, TRACEPOINT);
	if (!e)
		return 0;
	received_as(e);
	FIRE(e, tcp_receive_reset, tcp_connect_refused);
	event_end(e);
	return 0;
}

/* Up to 6.9 only of a full socket: a refusal has none, and kfree_skb tells it. */
SEC("tp_btf/tcp_send_reset")
int BPF_PROG(tcp_send_reset, const struct sock *sk, const struct sk_buff *skb)
{
	struct probe_event *e = sk || !skb ? NULL : dropped_event(ARGUMENT(skb));

	if (!e)
		return 0;
	if (refusal(e))
		FIRE(e, tcp_send_reset, tcp_accept_refused);
	event_end(e);
	return 0;
}

static __always_inline void sent_as(struct probe_event *e)
{
	e->ip_ver = version_of(&e->raddr);
	e->ip_saddr = e->laddr;
	e->ip_daddr = e->raddr;
	e->sport = e->lport;
	e->dport = e->rport;
	e->have |= HAVE(ADDR) | HAVE(PORTS) | HAVE(TCPPORTS);
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(tcp_retransmit_skb, const struct sock *sk, const struct sk_buff *skb)
{
	struct probe_event *e = socket_event(ARGUMENT(sk),
				       NEED(CID) ? bpf_get_socket_cookie((void *)sk) : 0,
				       TRACEPOINT);

	if (!e)
		return 0;
	sent_as(e);
	FIRE(e, tcp_retransmit_skb, tcp_retransmit);
	event_end(e);
	return 0;
}

SEC("tp_btf/tcp_retransmit_synack")
int BPF_PROG(tcp_retransmit_synack, const struct sock *sk, const struct request_sock *req)
{
	struct probe_event *e = socket_event((const struct sock *)ARGUMENT(req), 0,
						     TRACEPOINT);

	if (!e)
		return 0;
	sent_as(e);
	FIRE(e, tcp_retransmit_synack, tcp_retransmit_synack);
	event_end(e);
	return 0;
}

#define TCP_CA_LOSS	4

SEC("tp_btf/tcp_cong_state_set")
int BPF_PROG(tcp_cong_state_set, struct sock *sk, __u8 state)
{
	struct probe_event *e;

	if (state != TCP_CA_LOSS)
		return 0;
	e = socket_event(ARGUMENT(sk), NEED(CID) ? bpf_get_socket_cookie(sk) : 0, TRACEPOINT);
	if (!e)
		return 0;
	sent_as(e);
	FIRE(e, tcp_cong_state_set, tcp_timeout_rto);
	event_end(e);
	return 0;
}

SEC("tp_btf/udp_fail_queue_rcv_skb")
int BPF_PROG(udp_fail_queue_rcv_skb, int rc, struct sock *sk)
{
	struct probe_event *e =
		socket_event(ARGUMENT(sk), NEED(CID) ? bpf_get_socket_cookie(sk) : 0, TRACEPOINT);

	if (!e)
		return 0;
	e->rc = rc;
	e->have |= HAVE(RESULT);
	FIRE(e, udp_fail_queue_rcv_skb, udp_drop);
	event_end(e);
	return 0;
}

/* A header at skb_data, which is there for the answer that establishes a connection. */
static __always_inline void established_header(struct probe_event *e, struct bpf_sock_ops *ops)
{
	struct tcp_wire *t = ops->skb_data;

	if ((void *)(t + 1) > ops->skb_data_end)
		return;
	e->tcp_seq = bpf_ntohl(t->seq);
	e->tcp_ack = bpf_ntohl(t->ack);
	e->tcp_window = bpf_ntohs(t->window);
	e->tcp_checksum = bpf_ntohs(t->checksum);
	e->tcp_urgent = bpf_ntohs(t->urgent);
	e->tcp_offset = (t->offset >> 4) * 4;
	e->tcp_flags = t->flags;
	e->tcp_plength = 0;
	e->have |= HAVE(TCP);
}

SEC("sockops")
int sock_ops(struct bpf_sock_ops *ops)
{
	struct bpf_sock *sock = ops->sk;
	struct tcp_sock *tp = sock ? bpf_skc_to_tcp_sock(sock) : NULL;
	__u32 op = ops->op;
	struct probe_event *e;

	if (!tp || (op != BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB &&
		    op != BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB))
		return 1;
	e = socket_event((const struct sock *)tp, NEED(CID) ? bpf_get_socket_cookie(ops) : 0,
			 PREEMPTIBLE);
	if (!e)
		return 1;
	received_as(e);
	established_header(e, ops);
	if (op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB)
		FIRE(e, sock_ops, tcp_connect_established);
	else
		FIRE(e, sock_ops, tcp_accept_established);
	event_end(e);
	return 1;
}

/*
 * Not a probe: gives each socket its cookie when it is made. A socket gets one when somebody asks
 * for it, which programs that see packets may not.
 */
SEC("cgroup/sock_create")
int sock_create(struct bpf_sock *ctx)
{
	bpf_get_socket_cookie(ctx);
	return 1;
}
