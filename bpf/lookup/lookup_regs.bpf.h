/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The registers and the stack of a function of user space that is called, or returns. Not loaded
 * directly: the compiler merges the loads of both machines, which the verifier refuses.
 */
#ifndef NICPROBE_LOOKUP_REGS_BPF_H
#define NICPROBE_LOOKUP_REGS_BPF_H

#include "bpf/lookup/lookup.h"
#include "lib/core/kernel.bpf.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pt_regs___user_x86 {
	unsigned long r9, r8, ax, sp;
};

struct pt_regs___user_arm64 {
	__u64 regs[31], sp;
};

struct xol_area {		/* kernel/events/uprobes.c */
	unsigned long vaddr;	/* where probed functions return to: 6.1 to 6.18 */
};

struct uprobes_state {
	struct xol_area *xol_area;
};

struct mm_struct___probed {
	struct uprobes_state uprobes_state;
};

struct task_struct___exec {
	__u64 self_exec_id;
	struct mm_struct___probed *mm;
};

#pragma clang attribute pop

#define USER_ON_X86	bpf_core_field_exists(struct pt_regs___user_x86, r9)

static __always_inline __u64 stack_pointer(const void *regs)
{
	const struct pt_regs___user_x86 *x86 = regs;
	const struct pt_regs___user_arm64 *arm = regs;

	return USER_ON_X86 ? BPF_CORE_READ(x86, sp) : BPF_CORE_READ(arm, sp);
}

/* The stack pointer that the function began with: x86 has taken the return address off. */
static __always_inline __u64 returned_to(const void *regs)
{
	return stack_pointer(regs) - (USER_ON_X86 ? sizeof(__u64) : 0);
}

static __always_inline __u64 returned_value(const void *regs)
{
	const struct pt_regs___user_x86 *x86 = regs;
	const struct pt_regs___user_arm64 *arm = regs;

	return USER_ON_X86 ? BPF_CORE_READ(x86, ax) : BPF_CORE_READ(arm, regs[0]);
}

/* Argument 5, 6 or 7 of a function that begins, or 0 for none. */
static __always_inline __u64 late_argument(const void *regs, int nr)
{
	const struct pt_regs___user_x86 *x86 = regs;
	const struct pt_regs___user_arm64 *arm = regs;
	__u64 value = 0;

	if (!nr)
		return 0;
	if (!USER_ON_X86)
		return nr == 5 ? BPF_CORE_READ(arm, regs[4]) :
		       nr == 6 ? BPF_CORE_READ(arm, regs[5]) : BPF_CORE_READ(arm, regs[6]);
	if (nr == 7)
		bpf_probe_read_user(&value, sizeof(value), (void *)stack_pointer(regs) + 8);
	return nr == 5 ? BPF_CORE_READ(x86, r8) : nr == 6 ? BPF_CORE_READ(x86, r9) : value;
}

static __always_inline __u64 lookup_result_at(const void *regs, __u64 function)
{
	switch (function) {
#define F(name, result, error) case LOOKUP_##name: return late_argument(regs, result);
	LOOKUP_FUNCTIONS(F)
#undef F
	}
	return 0;
}

static __always_inline __u64 lookup_error_at(const void *regs, __u64 function)
{
	switch (function) {
#define F(name, result, error) case LOOKUP_##name: return late_argument(regs, error);
	LOOKUP_FUNCTIONS(F)
#undef F
	}
	return 0;
}

/* Does this function say where to put h_errno? */
static __always_inline bool lookup_function_r(__u64 function)
{
	switch (function) {
#define F(name, result, error) case LOOKUP_##name: return error;
	LOOKUP_FUNCTIONS(F)
#undef F
	}
	return false;
}

static __always_inline __u64 exec_of(const void *task)
{
	return PLAIN((const struct task_struct___exec *)task, self_exec_id);
}

/*
 * Does the return address there still lead to the probe of a return? If not, the function was left
 * by siglongjmp(), and others use its stack. True where that is not known.
 */
static __always_inline bool return_is_awaited(__u64 stack)
{
	const struct task_struct___exec *task = (void *)bpf_get_current_task();
	const struct mm_struct___probed *mm;
	const struct xol_area *area;
	__u64 address = 0;

	if (!USER_ON_X86 || !bpf_core_field_exists(struct xol_area, vaddr))
		return true;
	mm = PLAIN(task, mm);
	area = mm ? PLAIN(mm, uprobes_state.xol_area) : NULL;
	if (!area || bpf_probe_read_user(&address, sizeof(address), (void *)stack))
		return true;
	return address == PLAIN(area, vaddr);
}

#endif
