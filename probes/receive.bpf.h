/* SPDX-License-Identifier: GPL-2.0 */
/* Packets on their way in: polled, delivered by drivers, taken by the stack, given to sockets. */

/* Members of a packet that arrives: skb->data is at its network header. */
static __always_inline void received_fill(struct probe_event *e, const struct sk_buff *skb,
					  const struct net_device *dev, __u64 now)
{
	__u32 linear = skb->len - skb->data_len, l2;

	l2 = (__u32)((__u64)skb->data - (__u64)skb->head) - skb->mac_header;
	if (skb->mac_header == 0xffff || l2 > 64)
		l2 = dev->hard_header_len;
	interface_fill(e, dev, now);
	if (skb->queue_mapping) {	/* skb_record_rx_queue() adds 1 */
		e->if_queue = skb->queue_mapping - 1;
		e->have |= HAVE(QUEUE);
	}
	packet_fill(e, skb, skb->data, linear, skb->len, l2, now);
	if ((e->if_proto == ETH_P_IP || e->if_proto == ETH_P_IPV6) && NOW_ANY(NEEDS_IP) &&
	    !(e->have & HAVE(IP)) && linear < IPV6_HEADER)
		lose(LOST_HEADER);
}

/* The same in two steps. False: the filter does not let the event pass. */
static __always_inline bool received_passes(struct probe_event *e, const struct sk_buff *skb,
					    const struct net_device *dev)
{
	received_fill(e, skb, dev, FIRST);
	if (!event_early(e))
		return false;
	if (SECOND)
		received_fill(e, skb, dev, SECOND);
	return true;
}

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(netif_receive_skb, struct sk_buff *arg)
{
	const struct sk_buff *skb = ARGUMENT(arg);
	const struct net_device *dev = skb->dev;
	const struct net *net = dev->nd_net.net;
	struct probe_event *e;

	if (!event_ours(net, dev) || !peek_arrived(skb, dev, ONLY(netif_receive_skb)))
		return 0;
	e = event_begin(net, TRACEPOINT);
	if (!e)
		return 0;
	if (received_passes(e, skb, dev)) {
		stacks_fill(ctx, e);
		FIRE(e, netif_receive_skb, nic_rx_stack);
		/* a port of a bridge or bond delivers the packet again, as that of its master */
		if (!dev->rx_handler && !BPF_CORE_READ_BITFIELD_PROBED(skb, pkt_type))
			FIRE_IP(e, netif_receive_skb, receive, true);
		if (e->if_proto == ETH_P_ARP && e->have & HAVE(ARP) && !dev->rx_handler)
			FIRE(e, netif_receive_skb, arp_receive);
	}
	event_end(e);
	return 0;
}

static __always_inline int delivered(void *ctx, const struct sk_buff *skb)
{
	const struct net_device *dev = skb->dev;
	const struct net *net = dev->nd_net.net;
	struct probe_event *e;

	/* a veth or a loopback passes the packet on as it is: it was not done with */
	if (SERVES(consume_skb, BIT(nic_tx_done)))
		bpf_map_delete_elem(&in_driver, &(__u64){ (__u64)skb });
	if (!SERVES(driver_delivers, BIT(nic_rx_packet)))
		return 0;
	if (!event_ours(net, dev) || !peek_arrived(skb, dev, 0))
		return 0;
	e = event_begin(net, TRACEPOINT);
	if (!e)
		return 0;
	if (received_passes(e, skb, dev)) {
		stacks_fill(ctx, e);
		FIRE(e, driver_delivers, nic_rx_packet);
	}
	event_end(e);
	return 0;
}

/* The five functions by which drivers deliver; a driver uses one of them for a packet. */
#define DELIVERS(event)								\
SEC("tp_btf/" #event)								\
int BPF_PROG(driver_delivers__##event, struct sk_buff *skb)			\
{										\
	return delivered(ctx, ARGUMENT(skb));					\
}
DELIVERS(napi_gro_receive_entry)
DELIVERS(napi_gro_frags_entry)
DELIVERS(netif_receive_skb_entry)
DELIVERS(netif_receive_skb_list_entry)
DELIVERS(netif_rx_entry)

SEC("tp_btf/napi_poll")
int BPF_PROG(napi_poll, struct napi_struct *napi, int work, int budget)
{
	const struct net_device *dev = ARGUMENT(napi)->dev;
	const struct net *net = dev ? dev->nd_net.net : NULL;
	struct probe_event *e;

	/* the backlog's has no device */
	e = event_of(net, dev, TRACEPOINT);
	if (!e)
		return 0;
	interface_fill(e, dev, query.need);
	e->napi_id = ARGUMENT(napi)->napi_id;
	e->napi_work = work;
	e->napi_budget = budget;
	e->have |= HAVE(NAPI);
	FIRE(e, napi_poll, nic_rx_poll);
	event_end(e);
	return 0;
}

SEC("netfilter")
int nf_local_in(struct bpf_nf_ctx *ctx)
{
	const struct sk_buff *skb = ctx->skb;
	const struct nf_hook_state *state = ctx->state;
	const struct net_device *dev = state->in;
	struct probe_event *e;

	if (!event_ours(state->net, dev) || !peek_arrived(skb, dev, ONLY(nf_local_in)))
		return NF_ACCEPT;
	e = event_begin(state->net, PREEMPTIBLE);
	if (!e)
		return NF_ACCEPT;
	if (received_passes(e, skb, dev)) {
		FIRE_IP(e, nf_local_in, receive, true);
		FIRE(e, nf_local_in, ip_deliver);
	}
	event_end(e);
	return NF_ACCEPT;
}

/* Packets that found their socket, the kernel's cast of ctx included: since 6.2. */
SEC("cgroup_skb/ingress")
int cgroup_ingress(struct __sk_buff *ctx)
{
	const struct sk_buff *skb;
	const struct net *net;
	struct probe_event *e;

	if (!bpf_cast_to_kern_ctx)
		return 1;
	skb = bpf_cast_to_kern_ctx(ctx);
	net = skb->dev ? skb->dev->nd_net.net : NULL;
	if (!event_ours(net, skb->dev) || !peek_arrived(skb, skb->dev, ONLY(cgroup_ingress)))
		return 1;
	e = event_begin(net, PREEMPTIBLE);
	if (!e)
		return 1;
	received_fill(e, skb, skb->dev, query.need);
	socket_fill(e, skb->sk, NEED(CID) ? bpf_get_socket_cookie(ctx) : 0, query.need);
	if (e->have & HAVE(TCP))
		FIRE(e, cgroup_ingress, tcp_receive);
	else if (e->have & HAVE(UDP))
		FIRE(e, cgroup_ingress, udp_receive);
	event_end(e);
	return 1;
}
