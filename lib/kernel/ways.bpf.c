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

SEC("fentry/__napi_schedule")
int way_fentry(void *ctx)
{
	return 0;
}

SEC("tc")
int way_tc(struct __sk_buff *skb)
{
	return -1;
}

/* Linux 6.11; weak: an older kernel refuses this program alone. */
extern int bpf_dynptr_from_skb(struct __sk_buff *, __u64, struct bpf_dynptr *) __ksym __weak;

SEC("tp_btf/consume_skb")
int way_dynptr(const __u64 *ctx)
{
	struct bpf_dynptr data;

	return bpf_dynptr_from_skb((void *)ctx[0], 0, &data) & 0;
}

char _license[] SEC("license") = "GPL";
