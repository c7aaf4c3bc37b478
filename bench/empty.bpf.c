/* SPDX-License-Identifier: GPL-2.0 */
/* Empty programs on nicprobe's hooks: the minimum cost of a program. */
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

/* Classic tracepoints, to compare with bpftrace; empty_load() makes tp_btf and raw_tp programs. */
#define EMPTY(group, event)	SEC("tp/" #group "/" #event) int event(void *ctx) { return 0; }

EMPTY(net, napi_gro_receive_entry)
EMPTY(net, netif_receive_skb)
EMPTY(net, net_dev_queue)
EMPTY(net, net_dev_start_xmit)
EMPTY(net, net_dev_xmit)
EMPTY(skb, consume_skb)

char _license[] SEC("license") = "GPL";
