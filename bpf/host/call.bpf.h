/* SPDX-License-Identifier: GPL-2.0 */
/* A system call that returns: its number and arguments, which its registers still hold. */
#ifndef NICPROBE_CALL_BPF_H
#define NICPROBE_CALL_BPF_H

#include "lib/core/kernel.bpf.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pt_regs___call_x86 {
	unsigned long di, si, dx, r10, orig_ax;
};

struct pt_regs___call_arm64 {	/* regs[0] has the result by now */
	__u64 regs[31], pstate, orig_x0;
	__s32 syscallno;
};

struct thread_info___x86 {
	__u32 status;
};

struct task_struct___x86 {
	struct thread_info___x86 thread_info;
};

#pragma clang attribute pop

#define CALL_NONE	0xffffffff
#define TS_COMPAT	2		/* arch/x86/include/asm/thread_info.h, 6.1 to 6.18 */
#define PSR_MODE32_BIT	0x10		/* arch/arm64/include/uapi/asm/ptrace.h */
#define CALL_ON_X86	bpf_core_field_exists(struct pt_regs___call_x86, orig_ax)

/* `regs`: the tracepoint's own argument. */
static __always_inline __u32 call_number(const void *regs)
{
	const struct pt_regs___call_x86 *x86 = regs;
	const struct pt_regs___call_arm64 *arm = regs;

	if (CALL_ON_X86)
		return x86->orig_ax;
	if (bpf_core_field_exists(struct pt_regs___call_arm64, syscallno))
		return arm->syscallno;
	return CALL_NONE;
}

/* Argument `nr`, a constant below 4. */
static __always_inline __u64 call_argument(const void *regs, int nr)
{
	const struct pt_regs___call_x86 *x86 = regs;
	const struct pt_regs___call_arm64 *arm = regs;

	if (CALL_ON_X86)
		return nr == 0 ? x86->di : nr == 1 ? x86->si : nr == 2 ? x86->dx : x86->r10;
	return nr == 0 ? arm->orig_x0 : nr == 1 ? arm->regs[1] :
	       nr == 2 ? arm->regs[2] : arm->regs[3];
}

/* Is it one of 32 bits, whose numbers and structs are others? */
static __always_inline bool call_is_compat(const void *regs)
{
	const struct pt_regs___call_arm64 *arm = regs;
	const struct task_struct___x86 *task;

	if (!CALL_ON_X86)
		return arm->pstate & PSR_MODE32_BIT;
	task = (void *)bpf_get_current_task();
	return PLAIN(task, thread_info.status) & TS_COMPAT;
}

#endif
