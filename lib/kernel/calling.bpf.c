/* SPDX-License-Identifier: GPL-2.0 */
/* An empty program, to measure what the kernel takes to run one. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

SEC("tp_btf/task_rename")
int calling(void *ctx)
{
	return 0;
}

char _license[] SEC("license") = "GPL";
