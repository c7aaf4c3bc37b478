/* SPDX-License-Identifier: GPL-2.0 */
/* Packets on their way out: sent by the stack, taken by the driver, freed by it. */

#define IP_SENDS	(BIT(ip_send) | BIT(tcp_send) | BIT(udp_send) | BIT(icmp_send) | \
			 BIT(tcp_connect_request) | BIT(sctp_send))
#define SYN		0x02
#define ACK		0x10

/* The first SYN of a connection: a repeated one is a retransmit. */
static __always_inline bool asks_to_connect(const struct probe_event *e, const struct sock *sk)
{
	const struct inet_connection_sock *icsk = (void *)sk;

	return sk && (e->tcp_flags & (SYN | ACK)) == SYN &&
	       PLAIN(sk, __sk_common.skc_state) == TCP_SYN_SENT && !PLAIN(icsk, icsk_retransmits);
}

static __always_inline bool is_icmp(const struct probe_event *e)
{
	return (e->ip_proto == IPPROTO_ICMP || e->ip_proto == IPPROTO_ICMPV6) &&
	       e->have & HAVE(ICMP);
}

/* `own`: this host sends or receives it; else only IP sees it. */
#define FIRE_IP(e, of, direction, own) do {					\
	__u8 proto = (e)->ip_proto;						\
										\
	if (!((e)->have & HAVE(IP)))						\
		break;								\
	FIRE(e, of, ip_##direction);						\
	if (!(own))								\
		break;								\
	if (proto == IPPROTO_TCP && (e)->have & HAVE(TCP))			\
		FIRE(e, of, tcp_##direction);					\
	else if (proto == IPPROTO_UDP && (e)->have & HAVE(UDP))		\
		FIRE(e, of, udp_##direction);					\
	else if (is_icmp(e))							\
		FIRE(e, of, icmp_##direction);					\
	else if ((e)->have & HAVE(SCTP))					\
		FIRE(e, of, sctp_##direction);					\
} while (0)

/* Members of a packet that leaves, and of the socket it comes from. */
static __always_inline void sent_fill(struct probe_event *e, const struct sk_buff *skb,
				      const struct net_device *dev, __u32 l2, __u64 now)
{
	interface_fill(e, dev, now);
	e->if_queue = skb->queue_mapping;
	e->have |= HAVE(QUEUE);
	stack_packet_at(e, skb, l2, now);
	socket_fill(e, skb->sk, 0, now);
	task_fill(e, now);
}

/* The same in two steps. False: the filter does not let the event pass. */
static __always_inline bool sent_passes(struct probe_event *e, const struct sk_buff *skb,
					const struct net_device *dev, __u32 l2)
{
	sent_fill(e, skb, dev, l2, FIRST);
	if (!event_early(e))
		return false;
	if (SECOND)
		sent_fill(e, skb, dev, l2, SECOND);
	return true;
}

SEC("tp_btf/net_dev_queue")
int BPF_PROG(net_dev_queue, struct sk_buff *arg)
{
	const struct sk_buff *skb = ARGUMENT(arg);
	const struct net_device *dev = skb->dev;
	const struct net *net = dev->nd_net.net;
	struct probe_event *e;

	if (!event_ours(net, dev) || !peek_stack(skb, dev, ONLY(net_dev_queue)))
		return 0;
	e = event_begin(net, TRACEPOINT);
	if (!e)
		return 0;
	if (sent_passes(e, skb, dev, 0)) {
		stacks_fill(ctx, e);
		FIRE(e, net_dev_queue, nic_tx_queue);
		if (e->if_proto == ETH_P_ARP && e->have & HAVE(ARP))
			FIRE(e, net_dev_queue, arp_send);
		/* each device of a stack sends the packet: the lowest one is told */
		if (SERVES(net_dev_queue, IP_SENDS) && dev->lower_level <= 1) {
			FIRE_IP(e, net_dev_queue, send, !skb->skb_iif);
			if (SERVES(net_dev_queue, BIT(tcp_connect_request)) &&
			    e->have & HAVE(TCP) && asks_to_connect(e, skb->sk))
				FIRE(e, net_dev_queue, tcp_connect_request);
		}
	}
	event_end(e);
	return 0;
}

/* The driver takes a packet: the time to nic:::tx-done begins. */
static __always_inline void sent_begin(const struct sk_buff *skb)
{
	__u64 key = (__u64)skb, now = bpf_ktime_get_ns();

	if (bpf_map_update_elem(&in_driver, &key, &now, BPF_ANY))
		lose(LOST_TIME);
}

SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(net_dev_start_xmit, struct sk_buff *arg, struct net_device *to)
{
	const struct sk_buff *skb = ARGUMENT(arg);
	const struct net_device *dev = ARGUMENT(to);
	const struct net *net = dev->nd_net.net;
	struct probe_event *e;

	if (!event_ours(net, dev))
		return 0;
	if (SERVES(consume_skb, BIT(nic_tx_done)))
		sent_begin(skb);
	if (STOPS)
		queue_sends(skb, dev);
	if (!SERVES(net_dev_start_xmit, BIT(nic_tx_start)))
		return 0;
	if (!peek_stack(skb, dev, 0))
		return 0;
	e = event_begin(net, TRACEPOINT);
	if (!e)
		return 0;
	if (sent_passes(e, skb, dev, 0)) {
		stacks_fill(ctx, e);
		FIRE(e, net_dev_start_xmit, nic_tx_start);
	}
	event_end(e);
	return 0;
}

SEC("tp_btf/net_dev_xmit")
int BPF_PROG(net_dev_xmit, struct sk_buff *arg, int rc, struct net_device *to, unsigned int len)
{
	const struct net_device *dev = ARGUMENT(to);
	const struct net *net = dev->nd_net.net;
	struct probe_event *e;

	if (STOPS && event_ours(net, dev))
		queue_sent(arg, dev);
	/* the packet is not ours any more, unless the driver is busy */
	if (rc != NETDEV_TX_BUSY || !SERVES(net_dev_xmit, BIT(nic_tx_busy)))
		return 0;
	e = event_of(net, dev, TRACEPOINT);
	if (!e)
		return 0;
	sent_fill(e, ARGUMENT(arg), dev, 0, query.need);
	stacks_fill(ctx, e);
	e->rc = rc;
	e->have |= HAVE(RESULT);
	FIRE(e, net_dev_xmit, nic_tx_busy);
	event_end(e);
	return 0;
}

/* The probe of a packet at a hook of netfilter: by version, and whether it stays in this host. */
#define WAY(state, dev, physical, loopback)					\
	((state)->pf == PF_INET ?						\
	 ((dev)->flags & IFF_LOOPBACK ? PROBE_sdt_ip4_##loopback : PROBE_sdt_ip4_##physical) : \
	 ((dev)->flags & IFF_LOOPBACK ? PROBE_sdt_ip6_##loopback : PROBE_sdt_ip6_##physical))

static __always_inline bool serves_way(enum source s, enum stable_probe p)
{
	return serves[s][p / 64 % PROBE_WORDS] >> p % 64 & 1;
}

static __always_inline void fire_way(struct probe_event *e, enum source s, enum stable_probe p)
{
	if (!serves_way(s, p))
		return;
	e->source = s;
	e->probe = p;
	event_take(e);
}

/* Once for each packet that the host sends, before it waits for a neighbour. */
SEC("netfilter")
int nf_post_routing(struct bpf_nf_ctx *ctx)
{
	const struct sk_buff *skb = ctx->skb;
	const struct nf_hook_state *state = ctx->state;
	const struct net_device *dev = state->out;
	struct probe_event *e;

	if (!event_ours(state->net, dev) || !peek_stack(skb, dev, ONLY(nf_post_routing)))
		return NF_ACCEPT;
	e = event_begin(state->net, PREEMPTIBLE);
	if (!e)
		return NF_ACCEPT;
	if (sent_passes(e, skb, dev, dev->hard_header_len)) {
		e->have &= ~HAVE(QUEUE);	/* it is chosen later */
		FIRE_IP(e, nf_post_routing, send, !skb->skb_iif);
		if (SERVES(nf_post_routing, BIT(tcp_connect_request)) && e->have & HAVE(TCP) &&
		    !skb->skb_iif && asks_to_connect(e, skb->sk))
			FIRE(e, nf_post_routing, tcp_connect_request);
		fire_way(e, SOURCE_nf_post_routing,
			 WAY(state, dev, physical_out_end, loopback_out_end));
	}
	event_end(e);
	return NF_ACCEPT;
}
