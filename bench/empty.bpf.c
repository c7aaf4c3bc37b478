/* SPDX-License-Identifier: GPL-2.0 */
/* Programs that do nothing, where nicprobe's do something: the price of being there. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("xdp.frags")
int empty_xdp(struct xdp_md *ctx)
{
	return XDP_PASS;
}

SEC("tc")
int empty_tc(struct __sk_buff *skb)
{
	return -1;
}

#define EMPTY(group, event)						\
	SEC("tp_btf/" #event) int event##__btf(void *ctx) { return 0; }	\
	SEC("raw_tp/" #event) int event##__raw(void *ctx) { return 0; }	\
	SEC("tp/" #group "/" #event) int event##__tp(void *ctx) { return 0; }

EMPTY(net, napi_gro_receive_entry)
EMPTY(net, netif_receive_skb_entry)
EMPTY(net, netif_receive_skb)
EMPTY(net, net_dev_queue)
EMPTY(net, net_dev_start_xmit)
EMPTY(net, net_dev_xmit)
EMPTY(skb, consume_skb)
EMPTY(skb, kfree_skb)

char _license[] SEC("license") = "GPL";
