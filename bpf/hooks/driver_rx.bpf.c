/* SPDX-License-Identifier: GPL-2.0 */
/* The rx-nic hook without XDP: five ways for a driver to deliver a packet, before GRO and RPS. */
#include "bpf/common/head.bpf.h"
#include <bpf/bpf_tracing.h>

static __always_inline int delivered(bool frags, const struct sk_buff *skb)
{
	const struct net_device *dev;
	struct packet p;
	const void *l3;
	int linear;

	if (!skb)	/* napi_gro_frags with no packet in it */
		return 0;
	dev = skb->dev;
	if (!dev_is_ours(dev))
		return 0;
	p = (struct packet){ .point = RX_NIC, .segs = 1, .ecn = ECN_NOT_IP };
	p.row = row_of(RX_NIC, skb_rx_queue(skb, dev));
	p.len = config.l2 + skb->len;
	l3 = network_header(frags, skb, &linear);
	skb_segments(skb, &p, l3);
	/* The flow first: after the other branches the verifier would explore it 1000 times. */
	if (flow_look(&p))
		skb_look(skb, &p, l3, linear, skb->protocol);
	if (packet_headers_wanted())
		skb_parse(skb, &p, l3, linear, 0, skb->protocol);
	meter_packet(&p);
	return 0;
}

#define DELIVERED(name, event, frags)			\
	SEC("tp_btf/" event)				\
	int BPF_PROG(name, const struct sk_buff *skb)	\
	{						\
		return delivered(frags, skb);		\
	}

DELIVERED(rx_gro, "napi_gro_receive_entry", false)
DELIVERED(rx_frags, "napi_gro_frags_entry", true)
DELIVERED(rx_skb, "netif_receive_skb_entry", false)
DELIVERED(rx_list, "netif_receive_skb_list_entry", false)
DELIVERED(rx_netif, "netif_rx_entry", false)

char _license[] SEC("license") = "GPL";
