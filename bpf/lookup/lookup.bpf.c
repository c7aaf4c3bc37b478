/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Follows calls of the C library's functions that look up names, by probes at their first
 * instruction and at their return. They call each other: the outermost counts.
 */
#include "bpf/host/counts.bpf.h"
#include "bpf/lookup/lookup.h"
#include "bpf/lookup/lookup_regs.bpf.h"

#define ERANGE		34	/* the caller asks again with more room */
#define NETDB_INTERNAL	(-1)	/* see errno */

REMOTE_MAP(lookup);
static const struct lookup lookup_none;

struct lookup_call {		/* the outermost one of a thread */
	__u64 since;		/* CLOCK_MONOTONIC ns; 0: it is in none */
	__u64 stack;		/* its stack pointer then, where x86 has the return address */
	__u64 cookie;
	__u64 exec;		/* so often the thread has called exec() */
	__u64 result_at;	/* where it puts the result; 0: it returns it */
	__u64 error_at;		/* where it, or one below it, puts h_errno; 0: not known */
	char comm[COMM_SIZE];
	__s32 error;		/* h_errno of one below it that returned */
	__u32 unused;
};

/* The kernel frees it with the thread. A thread that fork() makes has none. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct lookup_call);
} lookup_calls SEC(".maps");

static __always_inline void lookup_count(struct lookup_call *call, __u32 result, __u64 now)
{
	struct lookup_key key = { .result = result }, others = {};
	struct lookup *row;

	__builtin_memcpy(key.comm, call->comm, sizeof(key.comm));
	row = REMOTE_ROW(&lookup, &key, &others, &lookup_none, METER_lookup);
	if (row) {
		COUNT(row, calls, 1);
		if (result != LOOKUP_LEFT)
			SPAN_ADD(row, latency, now - call->since);
	}
	call->since = 0;
}

/* Is this call made by the one that is known? Else that was left without a return. */
static __always_inline bool lookup_nested(const struct lookup_call *call, __u64 cookie, __u64 stack,
					  __u64 exec)
{
	if (call->exec != exec || stack > call->stack)
		return false;
	if (stack == call->stack &&
	    LOOKUP_FUNCTION(cookie) == LOOKUP_FUNCTION(call->cookie))
		return cookie != call->cookie;	/* the same file, by another path */
	return return_is_awaited(call->stack);
}

static __always_inline void lookup_outermost(struct lookup_call *call, const void *regs,
					     __u64 cookie, __u64 stack, __u64 exec)
{
	__builtin_memset(call, 0, sizeof(*call));
	call->stack = stack;
	call->cookie = cookie;
	call->exec = exec;
	call->result_at = lookup_result_at(regs, LOOKUP_FUNCTION(cookie));
	call->error_at = lookup_error_at(regs, LOOKUP_FUNCTION(cookie));
	bpf_get_current_comm(call->comm, sizeof(call->comm));
	call->since = bpf_ktime_get_ns();
}

SEC("uprobe")
int lookup_begins(const void *regs)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 cookie = bpf_get_attach_cookie((void *)regs), stack = stack_pointer(regs), exec;
	struct lookup_call *call;

	if (!task_is_ours())
		return 0;
	call = bpf_task_storage_get(&lookup_calls, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!call) {
		lost_add(METER_lookup, 1);
		return 0;
	}
	exec = exec_of((void *)bpf_get_current_task());
	if (call->since) {
		if (lookup_nested(call, cookie, stack, exec)) {
			if (!call->result_at)
				call->error_at = lookup_error_at(regs, LOOKUP_FUNCTION(cookie)) ?:
						 call->error_at;
			return 0;
		}
		lookup_count(call, LOOKUP_LEFT, 0);
	}
	lookup_outermost(call, regs, cookie, stack, exec);
	return 0;
}

/* The number of a function that has one for itself, or the same in h_errno. */
static __always_inline __u32 lookup_eai(__s32 number)
{
	__s32 nr = -number;

	return nr >= 1 && nr < NR_LOOKUP_RESULTS - LOOKUP_EAI ? LOOKUP_EAI + nr : LOOKUP_OTHER;
}

static __always_inline __u32 lookup_by_h_errno(__s32 error)
{
	switch (error) {
	case 1:		/* HOST_NOT_FOUND: netdb.h */
		return LOOKUP_NONAME;
	case 2:		/* TRY_AGAIN */
		return LOOKUP_AGAIN;
	case 3:		/* NO_RECOVERY */
		return LOOKUP_FAIL;
	case 4:		/* NO_DATA */
		return LOOKUP_NODATA;
	case NETDB_INTERNAL:
		return LOOKUP_SYSTEM;
	default:
		return LOOKUP_OTHER;
	}
}

static __always_inline __s32 lookup_error(const struct lookup_call *call)
{
	__s32 error = 0;

	if (call->error_at)
		bpf_probe_read_user(&error, sizeof(error), (void *)call->error_at);
	return error;
}

static __always_inline __u32 lookup_result(const struct lookup_call *call, __u64 returned)
{
	__u64 result = returned;

	if (LOOKUP_FUNCTION(call->cookie) == LOOKUP_getaddrinfo)
		return (__s32)returned ? lookup_eai(returned) : LOOKUP_OK;
	if (call->result_at) {
		if ((__s32)returned == ERANGE)
			return LOOKUP_OVERFLOW;
		if (bpf_probe_read_user(&result, sizeof(result), (void *)call->result_at))
			return LOOKUP_OTHER;
	}
	return result ? LOOKUP_OK : lookup_by_h_errno(call->error);
}

SEC("uprobe")
int lookup_ends(const void *regs)
{
	__u64 now = bpf_ktime_get_ns(), cookie = bpf_get_attach_cookie((void *)regs);
	struct task_struct *task = bpf_get_current_task_btf();
	struct lookup_call *call = bpf_task_storage_get(&lookup_calls, task, NULL, 0);
	bool outermost;

	if (!call || !call->since)
		return 0;
	outermost = returned_to(regs) == call->stack && cookie == call->cookie;
	if (outermost ? !!call->result_at : !!lookup_function_r(LOOKUP_FUNCTION(cookie)))
		call->error = lookup_error(call);
	if (outermost)
		lookup_count(call, lookup_result(call, returned_value(regs)), now);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
