/* SPDX-License-Identifier: GPL-2.0 */
/* The rx-stack hook where tc does not work: netif_receive_skb, after GRO and RPS. */
#include "bpf/common/head.bpf.h"
#include <bpf/bpf_tracing.h>

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(rx_stack, const struct sk_buff *skb)
{
	const struct net_device *dev;
	struct packet p;

	if (!skb)
		return 0;
	dev = skb->dev;
	if (!dev_is_ours(dev))
		return 0;
	p = (struct packet){ .point = RX_STACK, .segs = 1, .ecn = ECN_NOT_IP };
	p.row = row_of(RX_STACK, skb_rx_queue(skb, dev));
	p.len = config.l2 + skb->len;
	skb_segments(skb, &p, skb->data);
	p.len += skb_vlan_len(skb);
	if (packet_headers_wanted())
		skb_parse(skb, &p, skb->data,
			  skb->len - skb->data_len, 0,
			  skb->protocol);
	meter_packet(&p);
	return 0;
}

char _license[] SEC("license") = "GPL";
