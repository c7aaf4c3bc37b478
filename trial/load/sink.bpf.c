/* SPDX-License-Identifier: GPL-2.0 */
/* The receiving end: counts what arrives by queue and CPU, then drops, passes or returns it. */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "trial/load/live.h"

const volatile struct sink_config config;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);		/* resized to one per queue */
	__type(key, __u32);
	__type(value, struct sink_count);
} counts SEC(".maps");

/* Does not touch the packet data: that would add the cache miss that drivers prefetch against. */
static __always_inline __u64 length(struct xdp_md *ctx)
{
	if (config.most > 1500)		/* may have several buffers */
		return bpf_xdp_get_buff_len(ctx);
	return ctx->data_end - ctx->data;
}

/* Swaps the MAC addresses, as a port accepts only frames addressed to it. */
static __always_inline bool turn(struct xdp_md *ctx)
{
	__u16 *mac = (void *)(long)ctx->data, other;

	if ((void *)(mac + 6) > (void *)(long)ctx->data_end)
		return false;
	for (int i = 0; i < 3; i++) {
		other = mac[i];
		mac[i] = mac[3 + i];
		mac[3 + i] = other;
	}
	return true;
}

SEC("xdp.frags")
int sink(struct xdp_md *ctx)
{
	__u32 row = ctx->rx_queue_index;
	struct sink_count *c;
	__u64 len = length(ctx);

	if (row >= config.rows)
		row = config.rows - 1;
	c = bpf_map_lookup_elem(&counts, &row);
	if (!c)
		return XDP_PASS;
	if (config.most && (len < config.least || len > config.most)) {
		c->others++;
		return XDP_PASS;
	}
	c->packets++;
	c->bytes += len;
	if (config.action == XDP_REDIRECT)
		return turn(ctx) ? bpf_redirect(config.ifindex, 0) : XDP_DROP;
	return config.action;
}

char _license[] SEC("license") = "GPL";
