/* SPDX-License-Identifier: GPL-2.0 */
/* The rx-stack hook where tc does not work: netif_receive_skb, after GRO and RPS. */
#ifndef NICPROBE_STACK_RX_BPF_H
#define NICPROBE_STACK_RX_BPF_H

#include "bpf/common/head.bpf.h"
#include <bpf/bpf_tracing.h>

static __always_inline void stack_received(struct frame *f, const struct sk_buff *skb)
{
	struct packet *p = &f->packet;

	if (packet_headers_wanted())
		skb_parse(skb, p, f->l3, f->linear, 0, skb->protocol, false);
	p->point = RX_STACK;	/* clang lost track of it as its source was read */
	meter_packet(p);
}

#endif
