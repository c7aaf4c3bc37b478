/* SPDX-License-Identifier: GPL-2.0 */
/* The tx-stack and tx-nic hooks: tracepoints, as the queue is not yet chosen at tc egress. */
#include "bpf/common/head.bpf.h"
#include "bpf/common/feature.bpf.h"
#include "bpf/common/scratch.bpf.h"
#include <bpf/bpf_tracing.h>

/* The packet in the driver's xmit: between the two tracepoints it does not migrate or nest. */
struct xmit {
	__u64 skb;
	struct packet packet;
};
SCRATCH_MAP(xmit, struct xmit);

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
	/* With an in-band tag skb->protocol and the offsets disagree: read the frame. */
	if (config.l2)
		bpf_probe_read_kernel(&proto, sizeof(proto), data + 2 * ETH_ALEN);
	skb_parse(skb, p, data + config.l2, len - skb->data_len - config.l2,
		  config.l2, proto);
}

SEC("tp_btf/net_dev_queue")
int BPF_PROG(tx_stack, const struct sk_buff *skb)
{
	const struct net_device *dev = skb->dev;
	struct packet p;

	if (!dev_is_ours(dev))
		return 0;
	p = (struct packet){ .point = TX_STACK };	/* only now: it costs time */
	look(skb, dev, &p);
	FORGET(p.segs, p.len);
	FORGET(p.ecn, p.len);
	FORGET(p.work, p.len);
	FORGET(p.why, p.len);
	FORGET(p.feature, p.len);
	meter_packet(&p);
	return 0;
}

SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(tx_nic, const struct sk_buff *skb, const struct net_device *dev)
{
	struct xmit *x;

	if (!dev_is_ours(dev))
		return 0;
	x = scratch_here(xmit);
	if (!x)
		return 0;
	x->packet.point = TX_NIC;
	look(skb, dev, &x->packet);
	x->skb = (__u64)skb;
	return 0;
}

/* skb may be freed by now: only its address may be used. */
SEC("tp_btf/net_dev_xmit")
int BPF_PROG(tx_return, const struct sk_buff *skb, int rc, const struct net_device *dev)
{
	struct xmit *x;
	struct packet p;

	if (dev_is_other(dev))
		return 0;
	x = scratch_here(xmit);
	if (!x || x->skb != (__u64)skb)
		return 0;
	x->skb = 0;
	if (rc >= XMIT_TAKEN)
		return 0;
	p = x->packet;
	p.point = TX_NIC;
	meter_packet(&p);
	return 0;
}

char _license[] SEC("license") = "GPL";
