/* SPDX-License-Identifier: GPL-2.0 */
/* A library of one function, which begins with the breakpoint that the kernel writes there for an uprobe: it refuses one. */
	.globl getaddrinfo
	.type getaddrinfo, %function
getaddrinfo:
#if defined(__x86_64__)
	int3
#elif defined(__aarch64__)
	brk #5		/* UPROBES_BRK_IMM, 6.1 to 6.18 */
#endif
	ret
	.section .note.GNU-stack, "", %progbits
