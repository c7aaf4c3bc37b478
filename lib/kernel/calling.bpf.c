/* SPDX-License-Identifier: GPL-2.0 */
/* Empty programs, to measure what the kernel takes to run one. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

SEC("tp_btf/task_rename")
int calling(void *ctx)
{
	return 0;
}

/* Linux 6.1 refuses to attach a program to a tracepoint twice (EEXIST). */
SEC("tp_btf/task_rename")
int calling_further(void *ctx)
{
	return 0;
}

char _license[] SEC("license") = "GPL";
