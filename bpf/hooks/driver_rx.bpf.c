/* SPDX-License-Identifier: GPL-2.0 */
/* The rx-nic hook without XDP: five ways for a driver to deliver a packet, before GRO and RPS. */
#include "bpf/common/head.bpf.h"
#include "bpf/common/program.bpf.h"

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

ON(rx_gro, "tp_btf/napi_gro_receive_entry", delivered(false, skb), SKB)
ON(rx_frags, "tp_btf/napi_gro_frags_entry", delivered(true, skb), SKB)
ON(rx_skb, "tp_btf/netif_receive_skb_entry", delivered(false, skb), SKB)
ON(rx_list, "tp_btf/netif_receive_skb_list_entry", delivered(false, skb), SKB)
ON(rx_netif, "tp_btf/netif_rx_entry", delivered(false, skb), SKB)

char _license[] SEC("license") = "GPL";
