/* SPDX-License-Identifier: GPL-2.0 */
/* The tx-stack and tx-nic hooks: tracepoints, as the queue is not yet chosen at tc egress. */
#ifndef NICPROBE_XMIT_BPF_H
#define NICPROBE_XMIT_BPF_H

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

/* With an in-band tag skb->protocol and the offsets disagree: reads the frame. */
static __always_inline void xmit_parse(const struct sk_buff *skb, struct packet *p, __u32 len,
				       bool apart)
{
	const unsigned char *data = skb->data;
	const struct ethhdr___type *frame = (void *)data;
	__be16 proto = TOLD(l2) ? PLAIN(frame, h_proto) : skb->protocol;

	skb_parse(skb, p, data + TOLD(l2), len - skb->data_len - TOLD(l2), TOLD(l2), proto,
		  apart);
}

/*
 * Each part forgets what it found out before the next one begins, or the verifier repeats that for
 * each path. The packet of tx-nic is in a map, of whose values it knows nothing anyway.
 */
static __always_inline void xmit_look(const struct sk_buff *skb,
				 const struct net_device *dev, struct packet *p,
				 enum point point)
{
	__u32 len = skb->len, gso_type;

	p->point = point;
	p->row = row_of(point, skb->queue_mapping);
	p->len = len;
	p->segs = 1;
	p->ecn = ECN_NOT_IP;
	p->linear = 0;
	if (packet_headers_wanted())
		xmit_parse(skb, p, len, point == TX_STACK);
	if (point == TX_STACK) {
		FORGET(p->ecn, len);
		FORGET(p->ipv6, len);
	}
	gso_type = skb_segments(skb, p, true, NULL);
	if (is_set(tx_linear) && point == TX_NIC && p->segs > 1)
		p->linear = (p->segs - 1ull) * (len - skb->data_len);
	if (point == TX_STACK) {
		p->len += skb_vlan_len(skb);
		FORGET(p->row, len);
		FORGET(p->segs, len);
		FORGET(gso_type, len);
	}
	if (packet_work_wanted())
		skb_work(skb, dev, p, point, gso_type);
	if (point == TX_STACK) {
		FORGET(p->work, len);
		FORGET(p->why, len);
		FORGET(p->feature, len);
	}
}

static __always_inline void xmit_queued(const struct sk_buff *skb, const struct net_device *dev)
{
	struct packet p = {};

	xmit_look(skb, dev, &p, TX_STACK);
	meter_packet(&p);
}

static __always_inline void xmit_taken(const struct xmit *x)
{
	struct packet p = x->packet;

	p.point = TX_NIC;
	meter_packet(&p);
}

static __always_inline void xmit_started(const struct sk_buff *skb, const struct net_device *dev)
{
	struct xmit *x = scratch_here(xmit);

	if (!x)
		return;
	xmit_look(skb, dev, &x->packet, TX_NIC);
	if (is_set(takes_all))
		xmit_taken(x);
	else
		x->skb = (__u64)skb;
}

/* skb may be freed by now: only its address may be used. */
static __always_inline void xmit_returned(__u64 skb, int rc)
{
	struct xmit *x = scratch_here(xmit);

	if (!x || x->skb != skb)
		return;
	x->skb = 0;
	if (rc < XMIT_TAKEN)
		xmit_taken(x);
}

#endif
