/* SPDX-License-Identifier: GPL-2.0 */
/* The tx-stack and tx-nic hooks. At tc egress the queue is not chosen yet: hence tracepoints. */
#include "bpf/common/head.bpf.h"
#include "bpf/common/feature.bpf.h"
#include "bpf/common/scratch.bpf.h"
#include <bpf/bpf_tracing.h>

/* What is being handed to the driver; it cannot move or nest between the two tracepoints. */
struct handing {
	__u64 skb;
	struct packet packet;
};
SCRATCH_MAP(handing, struct handing);

static __always_inline void look(const struct sk_buff *skb,
				 const struct net_device *dev, struct packet *p)
{
	__u32 len = skb->len;
	const unsigned char *data = skb->data;
	__be16 proto = skb->protocol;
	__u32 gso_type;

	p->row = row_of(p->point, skb->queue_mapping);
	p->len = len;
	p->segs = 1;
	p->ecn = ECN_NOT_IP;
	p->linear = 0;
	gso_type = skb_segments(skb, p, NULL);
	if (config.tx_linear && p->point == TX_NIC && p->segs > 1)
		p->linear = (p->segs - 1ull) * (len - skb->data_len);
	if (p->point == TX_STACK)
		p->len += skb_vlan_len(skb);
	if (packet_work_wanted())
		skb_work(skb, dev, p, gso_type);
	if (!packet_headers_wanted())
		return;
	/* An in-band tag: skb->protocol and offsets disagree where it is. The frame does not. */
	if (config.l2)
		bpf_probe_read_kernel(&proto, sizeof(proto), data + 2 * ETH_ALEN);
	skb_parse(skb, p, data + config.l2, len - skb->data_len - config.l2,
		  config.l2, proto);
}

static __always_inline int queued(const struct sk_buff *skb)
{
	const struct net_device *dev = skb->dev;
	struct packet p;

	if (!dev_is_ours(dev))
		return 0;
	p = (struct packet){ .point = TX_STACK };	/* not for others' packets */
	look(skb, dev, &p);
	FORGET(p.segs, p.len);
	FORGET(p.ecn, p.len);
	FORGET(p.work, p.len);
	FORGET(p.why, p.len);
	FORGET(p.feature, p.len);
	meter_packet(&p);
	return 0;
}

static __always_inline int handed_over(const struct sk_buff *skb,
				       const struct net_device *dev)
{
	struct handing *h;

	if (!dev_is_ours(dev))
		return 0;
	h = scratch_here(handing);
	if (!h)
		return 0;
	h->packet.point = TX_NIC;
	look(skb, dev, &h->packet);
	h->skb = (__u64)skb;
	return 0;
}

/* skb may be freed by now: only its address may be used. */
static __always_inline int returned(__u64 skb, int rc, const struct net_device *dev)
{
	struct handing *h;
	struct packet p;

	if (dev_is_other(dev))
		return 0;
	h = scratch_here(handing);
	if (!h || h->skb != skb)
		return 0;
	h->skb = 0;
	if (rc >= XMIT_TAKEN)
		return 0;
	p = h->packet;
	p.point = TX_NIC;
	meter_packet(&p);
	return 0;
}

SEC("tp_btf/net_dev_queue")
int BPF_PROG(tx_stack, const struct sk_buff *skb)
{
	return queued(skb);
}

SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(tx_nic, const struct sk_buff *skb, const struct net_device *dev)
{
	return handed_over(skb, dev);
}

SEC("tp_btf/net_dev_xmit")
int BPF_PROG(tx_return, const struct sk_buff *skb, int rc, const struct net_device *dev)
{
	return returned((__u64)skb, rc, dev);
}

char _license[] SEC("license") = "GPL";
