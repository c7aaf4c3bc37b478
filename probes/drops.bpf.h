/* SPDX-License-Identifier: GPL-2.0 */
/* Packets that are dropped, and those that XDP programs lose. */

#define DROPS	(BIT(nic_rx_drop) | BIT(ip_drop_in) | BIT(ip_drop_out) | BIT(tcp_accept_refused))

/*
 * The device of a dropped packet. UDP keeps a number of its own where skb->dev was, once the packet
 * is on its way into a socket's queue: then the route tells.
 */
static __always_inline const struct net_device *dropped_at(const struct sk_buff *skb)
{
	const struct net_device *dev = skb->dev;
	const struct dst_entry *dst = (void *)(skb->_skb_refdst & ~1ul);

	if (dev && PLAIN(dev, ifindex) && PLAIN(dev, nd_net.net))
		return dev;
	return dst ? PLAIN(dst, dev) : NULL;
}

static __always_inline bool ours_plain(const struct net *net, const struct net_device *dev)
{
	if (query.netns && (!net || PLAIN(net, net_cookie) != query.netns))
		return false;
	return !query.ifindex || (dev && PLAIN(dev, ifindex) == (int)query.ifindex);
}

static __always_inline void plain_interface(struct probe_event *e, const struct net_device *dev)
{
	if (!NEED(IF) || !dev)
		return;
	bpf_probe_read_kernel(e->if_name, sizeof(e->if_name), &dev->name);
	e->if_index = PLAIN(dev, ifindex);
	e->if_local = !!(PLAIN(dev, flags) & IFF_LOOPBACK);
	e->have |= HAVE(IF);
}

/* A place for a packet of this device, with its interface and headers; NULL as event_of(). */
static __always_inline struct probe_event *dropped_event(const struct sk_buff *skb)
{
	const struct net_device *dev = dropped_at(skb);
	const struct net *net = dev ? PLAIN(dev, nd_net.net) : NULL;
	struct probe_event *e;

	if (!ours_plain(net, dev))
		return NULL;
	e = event_begin(NULL, TRACEPOINT);
	if (!e)
		return NULL;
	e->netns = net ? PLAIN(net, net_cookie) : 0;
	plain_interface(e, dev);
	stack_packet(e, skb);
	return e;
}

#define RST		0x04

/*
 * The RST that refuses a SYN, by the rules of RFC 9293, 3.10.7.1: no program sees its header.
 * False: it is no SYN.
 */
static __always_inline bool refusal(struct probe_event *e)
{
	struct probe_address there = e->ip_saddr;
	__u16 port = e->sport;

	if (!(e->have & HAVE(TCP)) || (e->tcp_flags & (SYN | ACK | RST)) != SYN)
		return false;
	e->ip_saddr = e->ip_daddr;
	e->ip_daddr = there;
	e->sport = e->dport;
	e->dport = port;
	e->tcp_ack = e->tcp_seq + 1 + e->tcp_plength;
	e->tcp_seq = 0;
	e->tcp_flags = RST | ACK;
	e->tcp_window = e->tcp_urgent = 0;
	e->tcp_offset = 20;
	e->tcp_plength = 0;
	e->ip_plength = 20;
	/* they are those of the SYN */
	e->have &= ~(HAVE(IPV4) | HAVE(IPV6) | HAVE(PKT) | HAVE(ETH) | HAVE(QUEUE) | HAVE(DROP));
	return true;
}

/* Packets that drivers have, by address, and when they took them: sent_begin() in send.bpf.h. */
static __always_inline void sent_done(const struct sk_buff *skb)
{
	__u64 key = (__u64)skb, *began = bpf_map_lookup_elem(&in_driver, &key);
	const struct net_device *dev;
	struct probe_event *e;
	__u64 ns;

	if (!began)
		return;
	ns = bpf_ktime_get_ns() - *began;
	/* of two programs that see it freed only one takes it */
	if (bpf_map_delete_elem(&in_driver, &key))
		return;
	dev = skb->dev;
	e = event_begin(dev ? dev->nd_net.net : NULL, TRACEPOINT);
	if (!e)
		return;
	sent_fill(e, skb, dev, 0, query.need);
	e->tx_ns = ns;
	e->have |= HAVE(DONE);
	FIRE(e, consume_skb, nic_tx_done);
	event_end(e);
}

/* A buffer goes that holds an IP packet, whether it was dropped (kfree_skb) or not. */
static __always_inline void packet_freed(const struct sk_buff *skb, enum source s)
{
	__be16 proto = skb->protocol;
	struct probe_event *e;

	if (!SERVES(consume_skb, BIT(ip_packet_free)) ||
	    (proto != bpf_htons(ETH_P_IP) && proto != bpf_htons(ETH_P_IPV6)))
		return;
	e = dropped_event(skb);
	if (!e)
		return;
	e->source = s;
	e->probe = PROBE_ip_packet_free;
	event_take(e);
	event_end(e);
}

SEC("tp_btf/consume_skb")
int BPF_PROG(consume_skb, struct sk_buff *arg)
{
	const struct sk_buff *skb = ARGUMENT(arg);

	if (SERVES(consume_skb, BIT(nic_tx_done)))
		sent_done(skb);
	packet_freed(skb, SOURCE_consume_skb);
	return 0;
}

static __always_inline bool is_no_socket(enum skb_drop_reason reason)
{
	return reason == bpf_core_enum_value(enum skb_drop_reason, SKB_DROP_REASON_NO_SOCKET);
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(kfree_skb, struct sk_buff *arg, void *where, enum skb_drop_reason reason)
{
	const struct sk_buff *skb = ARGUMENT(arg);
	struct probe_event *e;

	if (SERVES(consume_skb, BIT(nic_tx_done)))
		sent_done(skb);
	packet_freed(skb, SOURCE_kfree_skb);
	e = SERVES(kfree_skb, DROPS) ? dropped_event(skb) : NULL;
	if (!e)
		return 0;
	e->drop_loc = (__u64)where;
	e->drop_reason = reason;
	e->have |= HAVE(DROP);
	task_fill(e, query.need);
	stacks_fill(ctx, e);
	if (skb->skb_iif)
		FIRE(e, kfree_skb, nic_rx_drop);
	if (e->have & HAVE(IP)) {
		if (skb->skb_iif)
			FIRE(e, kfree_skb, ip_drop_in);
		else
			FIRE(e, kfree_skb, ip_drop_out);
	}
	if (SERVES(kfree_skb, BIT(tcp_accept_refused)) && is_no_socket(reason) && refusal(e))
		FIRE(e, kfree_skb, tcp_accept_refused);
	event_end(e);
	return 0;
}

static __always_inline int xdp_event(const struct net_device *dev, int rc, __u32 act, bool redirect)
{
	const struct net *net = dev->nd_net.net;
	struct probe_event *e;

	e = event_of(net, dev, TRACEPOINT);
	if (!e)
		return 0;
	interface_fill(e, dev, query.need);
	e->rc = rc;
	e->have |= HAVE(RESULT);
	if (redirect)
		FIRE(e, xdp_redirect, nic_xdp_redirect);
	else
		FIRE(e, xdp_exception, nic_xdp_exception);
	event_end(e);
	return 0;
}

SEC("tp_btf/xdp_exception")
int BPF_PROG(xdp_exception, const struct net_device *dev, const struct bpf_prog *prog, __u32 act)
{
	return xdp_event(ARGUMENT(dev), act, act, false);
}

SEC("tp_btf/xdp_redirect")
int BPF_PROG(xdp_redirect, const struct net_device *dev, const struct bpf_prog *prog,
	     const void *to, int err)
{
	return xdp_event(ARGUMENT(dev), err, 0, true);
}

SEC("tp_btf/xdp_redirect_err")
int BPF_PROG(xdp_redirect__err, const struct net_device *dev, const struct bpf_prog *prog,
	     const void *to, int err)
{
	return xdp_event(ARGUMENT(dev), err, 0, true);
}
