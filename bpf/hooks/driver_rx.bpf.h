/* SPDX-License-Identifier: GPL-2.0 */
/* The rx-nic hook without XDP: five ways for a driver to deliver a packet, before GRO and RPS. */
#ifndef NICPROBE_DRIVER_RX_BPF_H
#define NICPROBE_DRIVER_RX_BPF_H

#include "bpf/common/head.bpf.h"
#include <bpf/bpf_tracing.h>

static __always_inline void delivered(bool frags, const struct sk_buff *skb,
				      const struct net_device *dev)
{
	struct packet p = { .point = RX_NIC, .segs = 1, .ecn = ECN_NOT_IP };
	const void *l3;
	int linear;

	p.row = row_of(RX_NIC, skb_rx_queue(skb, dev));
	p.len = config.l2 + skb->len;
	l3 = network_header(frags, skb, &linear);
	skb_segments(skb, &p, l3);
	/* The flow first: after the other branches the verifier would explore it 1000 times. */
	if (flow_look(&p))
		skb_look(skb, &p, l3, linear, skb->protocol);
	if (packet_headers_wanted())
		skb_parse(skb, &p, l3, linear, 0, skb->protocol, false);
	meter_packet(&p);
}

#endif
