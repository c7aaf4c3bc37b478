/* SPDX-License-Identifier: GPL-2.0 */
/* Asks the kernel for the name of an address: /proc/kallsyms is 10 MB to read for one. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "symbol.bpf.h"

struct asked asked;

SEC("syscall")
int symbol(void *ctx)
{
	static const char format[] = "%pS";

	bpf_snprintf(asked.name, sizeof(asked.name), format, &asked.address,
		     sizeof(asked.address));
	return 0;
}

char _license[] SEC("license") = "GPL";
