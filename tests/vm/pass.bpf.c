/* SPDX-License-Identifier: GPL-2.0 */
/* A foreign XDP program: it counts, and passes everything. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} seen SEC(".maps");

SEC("xdp")
int count_and_pass(struct xdp_md *ctx)
{
	__u32 zero = 0;
	__u64 *n = bpf_map_lookup_elem(&seen, &zero);

	if (n)
		++*n;
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
