/* SPDX-License-Identifier: GPL-2.0 */
/* Whether system calls can be followed. */
#include <stddef.h>

#include "bpf/host/calls.h"
#include "lib/kernel/btf.h"
#include "lib/kernel/feature.h"

const char *calls_cannot(void)
{
#if !defined(__x86_64__) && !defined(__aarch64__)
	return "where the registers of a system call are is only known of x86-64 and arm64";
#endif
	if (denied("sys_exit"))
		return denied("sys_exit");
	return tracepoint_args("sys_exit") ? NULL :
	       "this kernel has no tracepoint sys_exit (CONFIG_FTRACE_SYSCALLS)";
}
