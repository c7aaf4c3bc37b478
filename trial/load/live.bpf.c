/* SPDX-License-Identifier: GPL-2.0 */
/* The generator's program: turns each live frame into one of the next flow and redirects it. */
#include <linux/bpf.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "trial/load/live.h"

const volatile struct live_config config;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct live_state);
} state SEC(".maps");

static __always_inline void put(void *frame, __u32 at, __u16 value)
{
	*(__u16 *)(frame + at) = bpf_htons(value);
}

/* Pages are recycled with whatever their last user left: rewrite every field that may differ. */
SEC("xdp")
int generate(struct xdp_md *ctx)
{
	void *frame = (void *)(long)ctx->data;
	__u32 zero = 0, flow;
	struct live_state *s = bpf_map_lookup_elem(&state, &zero);

	if (!s || frame + config.end > (void *)(long)ctx->data_end)
		return XDP_DROP;
	flow = s->next;
	s->next = flow + config.threads < config.flows ? flow + config.threads : s->first;
	for (int i = 0; i < 3; i++)
		((__u32 *)frame)[i] = config.macs[i];
	put(frame, config.saddr, flow + 1);
	put(frame, config.daddr, ~(flow + 1));
	put(frame, config.port, 1024 + flow);
	put(frame, config.payload, ~(1024 + flow));
	s->sent++;
	return bpf_redirect(config.ifindex, 0);
}

char _license[] SEC("license") = "GPL";
