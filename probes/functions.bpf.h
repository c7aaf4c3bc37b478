/* SPDX-License-Identifier: GPL-2.0 */
/* Packets and calls that functions of the kernel show and no tracepoint does: by fentry. */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct msghdr___flags {
	unsigned int msg_flags;
};

#pragma clang attribute pop

#define SOCK_SEQPACKET	5
#define IPV4_PROTOCOL	9	/* byte of the header */

/* Behind all rules of netfilter, before the packet waits for a neighbour: as nf_post_routing. */
static __always_inline int function_sends(void *ctx, const struct sk_buff *skb)
{
	const struct net_device *dev = skb->dev;
	const struct net *net = dev->nd_net.net;
	struct probe_event *e;

	if (!event_ours(net, dev) || !peek_stack(skb, dev, ONLY(fn_ip_output)))
		return 0;
	e = event_begin(net, PREEMPTIBLE);
	if (!e)
		return 0;
	if (sent_passes(e, skb, dev, dev->hard_header_len)) {
		e->have &= ~HAVE(QUEUE);	/* it is chosen later */
		stacks_fill(ctx, e);
		FIRE_IP(e, fn_ip_output, send, !skb->skb_iif);
		if (SERVES(fn_ip_output, BIT(tcp_connect_request)) && e->have & HAVE(TCP) &&
		    !skb->skb_iif && asks_to_connect(e, skb->sk))
			FIRE(e, fn_ip_output, tcp_connect_request);
	}
	event_end(e);
	return 0;
}

SEC("?fentry/ip_finish_output")
int BPF_PROG(fn_ip_output, struct net *net, struct sock *sk, struct sk_buff *skb)
{
	return function_sends(ctx, ARGUMENT(skb));
}

SEC("?fentry/ip6_finish_output")
int BPF_PROG(fn_ip_output__v6, struct net *net, struct sock *sk, struct sk_buff *skb)
{
	return function_sends(ctx, ARGUMENT(skb));
}

/* A packet that IP has taken: skb->data is at its transport. */
static __always_inline void taken_fill(struct probe_event *e, const struct sk_buff *skb,
				       const struct net_device *dev, __u64 now)
{
	__s32 at = skb->network_header - (__s32)((__u64)skb->data - (__u64)skb->head);
	__u32 l2 = skb->network_header - skb->mac_header;

	if (skb->mac_header == 0xffff || l2 > 64)
		l2 = dev->hard_header_len;
	interface_fill(e, dev, now);
	if (skb->queue_mapping) {	/* skb_record_rx_queue() adds 1 */
		e->if_queue = skb->queue_mapping - 1;
		e->have |= HAVE(QUEUE);
	}
	packet_fill(e, skb, skb->head + skb->network_header, skb->len - skb->data_len - at,
		    skb->len - at, l2 - at, now);
}

static __always_inline bool taken_passes(struct probe_event *e, const struct sk_buff *skb,
					 const struct net_device *dev)
{
	taken_fill(e, skb, dev, FIRST);
	if (!event_early(e))
		return false;
	if (SECOND)
		taken_fill(e, skb, dev, SECOND);
	return true;
}

static __always_inline int function_receives(void *ctx, const struct sk_buff *skb)
{
	const struct net_device *dev = skb->dev;
	const struct net *net = dev->nd_net.net;
	struct probe_event *e;

	if (!event_ours(net, dev) || !peek_stack(skb, dev, ONLY(fn_ip_input)))
		return 0;
	e = event_begin(net, PREEMPTIBLE);
	if (!e)
		return 0;
	if (taken_passes(e, skb, dev)) {
		stacks_fill(ctx, e);
		FIRE_IP(e, fn_ip_input, receive, true);
		FIRE(e, fn_ip_input, ip_deliver);
	}
	event_end(e);
	return 0;
}

/* Called again by UDP for what it unpacked: that came already. */
SEC("?fentry/ip_protocol_deliver_rcu")
int BPF_PROG(fn_ip_input, struct net *net, struct sk_buff *arg, int protocol)
{
	const struct sk_buff *skb = ARGUMENT(arg);
	__u8 first = 0;

	bpf_probe_read_kernel(&first, 1, skb->head + skb->network_header + IPV4_PROTOCOL);
	return first == protocol ? function_receives(ctx, skb) : 0;
}

/* Is it a fragment of IPv6? They are put together after this. */
static __always_inline bool is_fragment(const struct sk_buff *skb)
{
	const void *l3 = skb->head + skb->network_header;
	struct { __u8 type, len; } next = {};
	__u32 at = IPV6_HEADER;

	bpf_probe_read_kernel(&next.type, 1, l3 + offsetof(struct ipv6_wire, nexthdr));
	for (int i = 0; i < EXTENSIONS; i++) {
		if (next.type == IPPROTO_FRAGMENT)
			return true;
		if (next.type != IPPROTO_HOPOPTS && next.type != IPPROTO_ROUTING &&
		    next.type != IPPROTO_DSTOPTS)
			return false;
		if (bpf_probe_read_kernel(&next, sizeof(next), l3 + at))
			return false;
		at += (next.len + 1) * 8;
	}
	return false;
}

SEC("?fentry/ip6_protocol_deliver_rcu")
int BPF_PROG(fn_ip_input__v6, struct net *net, struct sk_buff *arg, int nexthdr, bool again)
{
	const struct sk_buff *skb = ARGUMENT(arg);

	return again || is_fragment(skb) ? 0 : function_receives(ctx, skb);
}

/* Fragments of IPv6 that were put together, or one that is the whole packet. */
SEC("?fexit/ipv6_frag_rcv")
int BPF_PROG(fn_ip_input__fragments, struct sk_buff *skb, int ret)
{
	return ret == 1 ? function_receives(ctx, ARGUMENT(skb)) : 0;
}

static __always_inline int function_queues(void *ctx, const struct sock *sk, __u64 cookie,
					   const struct sk_buff *skb)
{
	const struct net_device *dev = skb->dev;
	const struct net *net = dev->nd_net.net;
	struct probe_event *e;

	if (!event_ours(net, dev) || !peek_stack(skb, dev, ONLY(fn_udp_input)))
		return 0;
	e = event_begin(net, PREEMPTIBLE);
	if (!e)
		return 0;
	taken_fill(e, skb, dev, query.need);
	socket_fill(e, sk, cookie, query.need);
	stacks_fill(ctx, e);
	if (e->have & HAVE(UDP))
		FIRE(e, fn_udp_input, udp_receive);
	event_end(e);
	return 0;
}

SEC("?fentry/udp_queue_rcv_skb")
int BPF_PROG(fn_udp_input, struct sock *sk, struct sk_buff *skb)
{
	return function_queues(ctx, ARGUMENT(sk), NEED(CID) ? bpf_get_socket_cookie(sk) : 0,
			       ARGUMENT(skb));
}

SEC("?fentry/udpv6_queue_rcv_skb")
int BPF_PROG(fn_udp_input__v6, struct sock *sk, struct sk_buff *skb)
{
	return function_queues(ctx, ARGUMENT(sk), NEED(CID) ? bpf_get_socket_cookie(sk) : 0,
			       ARGUMENT(skb));
}

/*
 * What a family does to send or to receive returns: sock_sendmsg() does not do, as the compiler
 * makes it part of its callers (6.1). Those of sequenced packets call that of datagrams, or contain
 * it: only they themselves count, and `packets` says that it is one.
 */
static __always_inline int function_transfers(void *ctx, const struct socket *socket, int ret,
					      int flags, bool sends, bool packets)
{
	const struct sock *sk = BPF_CORE_READ(socket, sk);
	struct probe_event *e;

	if (!sk || (PLAIN(sk, sk_type) == SOCK_SEQPACKET) != packets)
		return 0;
	e = socket_event(sk, 0, PREEMPTIBLE);
	if (!e)
		return 0;
	e->so_family = PLAIN(sk, __sk_common.skc_family);
	e->so_type = PLAIN(sk, sk_type);
	e->so_protocol = PLAIN(sk, sk_protocol);
	e->so_flags = flags;
	e->so_ret = ret;
	e->have |= HAVE(SOCK) | HAVE(SOFLAGS) | HAVE(SORET);
	stacks_fill(ctx, e);
	if (sends)
		FIRE(e, fn_sendmsg, socket_send);
	else
		FIRE(e, fn_recvmsg, socket_receive);
	event_end(e);
	return 0;
}

#define TRANSFERS(family, packets)						\
SEC("?fexit/" #family "_sendmsg")						\
int BPF_PROG(fn_sendmsg__##family, struct socket *socket, struct msghdr___flags *msg,	\
	     unsigned long size, int ret)					\
{										\
	return function_transfers(ctx, socket, ret, BPF_CORE_READ(msg, msg_flags), true, packets); \
}										\
SEC("?fexit/" #family "_recvmsg")						\
int BPF_PROG(fn_recvmsg__##family, struct socket *socket, struct msghdr___flags *msg,	\
	     unsigned long size, int flags, int ret)				\
{										\
	return function_transfers(ctx, socket, ret, flags, false, packets);	\
}
TRANSFERS(inet, false)
TRANSFERS(inet6, false)
TRANSFERS(unix_stream, false)
TRANSFERS(unix_dgram, false)
TRANSFERS(unix_seqpacket, true)
TRANSFERS(netlink, false)
TRANSFERS(packet, false)

/* The last file descriptor of a socket is gone. */
SEC("?fentry/sock_close")
int BPF_PROG(fn_close, struct inode *inode, struct file *file)
{
	const struct socket *socket = BPF_CORE_READ(file, private_data);
	const struct sock *sk = socket ? BPF_CORE_READ(socket, sk) : NULL;
	struct socket_call c = {};
	struct probe_event *e;

	if (!sk)
		return 0;
	e = socket_call_event(sk);
	if (!e)
		return 0;
	kind_read(&c, sk);
	socket_kind_fill(e, &c);
	stacks_fill(ctx, e);
	FIRE(e, fn_close, socket_close);
	event_end(e);
	return 0;
}
