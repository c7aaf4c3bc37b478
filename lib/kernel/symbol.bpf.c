/* SPDX-License-Identifier: GPL-2.0 */
/* Asks the kernel for a name or an address of its own: /proc/kallsyms is 10 MB to read for one. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "lib/kernel/symbol.bpf.h"

struct symbol_query asked;

SEC("syscall")
int symbol(void *ctx)
{
	static const char format[] = "%pS";

	bpf_snprintf(asked.name, sizeof(asked.name), format, &asked.address,
		     sizeof(asked.address));
	return 0;
}

/* Of its code or data, or of a module's; 0: there is no such, or we may not know. */
SEC("syscall")
int address(void *ctx)
{
	return bpf_kallsyms_lookup_name(asked.name, sizeof(asked.name), 0, &asked.address);
}

char _license[] SEC("license") = "GPL";
