/* SPDX-License-Identifier: GPL-2.0 */
/* The smallest program of each kind: whether they load and attach says what this kernel can do. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

__attribute__((noinline)) int way_spot(struct xdp_md *ctx)
{
	volatile int ret = XDP_PASS;

	return ctx ? ret : XDP_ABORTED;
}

SEC("xdp")
int way_target(struct xdp_md *ctx)
{
	return way_spot(ctx);
}

SEC("freplace/way_spot")
int way_freplace(struct xdp_md *ctx)
{
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
