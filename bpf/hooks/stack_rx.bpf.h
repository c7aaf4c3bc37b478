/* SPDX-License-Identifier: GPL-2.0 */
/* The rx-stack hook where tc does not work: netif_receive_skb, after GRO and RPS. */
#ifndef NICPROBE_STACK_RX_BPF_H
#define NICPROBE_STACK_RX_BPF_H

#include "bpf/common/head.bpf.h"
#include <bpf/bpf_tracing.h>

static __always_inline void stack_received(const struct sk_buff *skb, const struct net_device *dev)
{
	struct packet p = { .point = RX_STACK, .segs = 1, .ecn = ECN_NOT_IP };

	p.row = row_of(RX_STACK, skb_rx_queue(skb, dev));
	p.len = config.l2 + skb->len;
	skb_segments(skb, &p, skb->data);
	p.len += skb_vlan_len(skb);
	if (packet_headers_wanted())
		skb_parse(skb, &p, skb->data,
			  skb->len - skb->data_len, 0,
			  skb->protocol, false);
	meter_packet(&p);
}

#endif
