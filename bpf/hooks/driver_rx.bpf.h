/* SPDX-License-Identifier: GPL-2.0 */
/* The rx-nic hook without XDP: five ways for a driver to deliver a packet, before GRO and RPS. */
#ifndef NICPROBE_DRIVER_RX_BPF_H
#define NICPROBE_DRIVER_RX_BPF_H

#include "bpf/common/head.bpf.h"
#include <bpf/bpf_tracing.h>

static __always_inline void delivered(struct frame *f, const struct sk_buff *skb)
{
	struct packet *p = &f->packet;

	/* The flow first: after the other branches the verifier would explore it 1000 times. */
	if (flow_look(p))
		skb_look(skb, p, f->l3, f->linear, skb->protocol);
	if (packet_headers_wanted())
		skb_parse(skb, p, f->l3, f->linear, 0, skb->protocol, false);
	p->point = RX_NIC;	/* clang lost track of it as its source was read */
	meter_packet(p);
}

#endif
