/* SPDX-License-Identifier: GPL-2.0 */
/* Functions and tracepoints of the kernel, by their names: a program for all of a kind. */

/* Later than libbpf of Debian 12 */
#if defined(__TARGET_ARCH_arm64)
#define PARM6(ctx)	(((const struct user_pt_regs *)(ctx))->regs[5])
#else
#define PARM6(ctx)	((ctx)->r9)
#endif

/* Those that are traced, by the number that a copy or a cookie has. */
const volatile struct raw_spot raw_spots[RAW_MOST] = {};

/*
 * Which of them a copy of the program is for: whoever copies it writes the number there
 * (raw_copy.c). A cookie would do, but raw tracepoints have none before Linux 6.10.
 */
static __always_inline __u32 copy_number(void)
{
	__u64 n;

	asm("%0 = " RAW_MARK_TEXT " ll" : "=r"(n));
	return n;
}

/* A value of so many bytes; above them a register may hold anything. */
static __always_inline __s64 value_cut(__u64 value, __u8 width)
{
	__u32 shift = 64 - 8 * (width & 0xf);

	if (!width || shift > 56)
		return value;
	return width & RAW_SIGNED ? (__s64)(value << shift) >> shift : value << shift >> shift;
}

static __always_inline struct probe_event *raw_begin(void *ctx, __u32 n, bool preemptible)
{
	struct probe_event *e = event_begin(NULL, preemptible);

	if (!e)
		return NULL;
	e->probe = RAW_PROBE(raw_spots[n].probe, n);
	e->begins = raw_spots[n].begins;
	e->module = raw_spots[n].module;
	e->have |= HAVE(MODULE);
	if (raw_spots[n].probe != PROBE_sdt_event) {
		e->syscall = RAW_FUNCTION | raw_spots[n].function;
		e->have |= HAVE(CALL);
	}
	task_fill(e, query.need);
	stacks_fill(ctx, e);
	return e;
}

static __always_inline void arguments_cut(struct probe_event *e, __u32 n)
{
#pragma unroll
	for (__u32 i = 0; i < RAW_ARGS; i++)
		e->arg[i] = value_cut(e->arg[i], raw_spots[n].width[i]);
	arguments_have(e, raw_spots[n].nr_args);
}

static __always_inline int raw_end(struct probe_event *e, enum source source)
{
	e->source = source;
	event_take(e);
	event_end(e);
	return 0;
}

static __always_inline int raw_return(struct probe_event *e, __u32 n, __u64 value)
{
	if (raw_spots[n].width[RAW_ARGS]) {
		e->retval = value_cut(value, raw_spots[n].width[RAW_ARGS]);
		e->failure = e->retval < 0 && e->retval >= -4095 ? -e->retval : 0;
		e->have |= HAVE(RETVAL);
	}
	return raw_end(e, SOURCE_fbt_exit);
}

SEC("?raw_tp")
int sdt_event(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 n = copy_number() & (RAW_MOST - 1), nr = raw_spots[n].nr_args;
	struct probe_event *e = raw_begin(ctx, n, TRACEPOINT);

	if (!e)
		return 0;
	if (NEED_ANY(ARGUMENTS) && nr <= RAW_ARGS &&
	    !bpf_probe_read_kernel(e->arg, nr * sizeof(e->arg[0]), ctx->args))
		arguments_cut(e, n);
	return raw_end(e, SOURCE_sdt_event);
}

SEC("?fentry")
int fbt_enter(__u64 *ctx)
{
	__u32 n = copy_number() & (RAW_MOST - 1);
	struct probe_event *e = raw_begin(ctx, n, PREEMPTIBLE);

	if (!e)
		return 0;
	if (NEED_ANY(ARGUMENTS)) {
#pragma unroll
		for (__u32 i = 0; i < RAW_ARGS; i++) {
			__u64 value = 0;

			bpf_get_func_arg(ctx, i, &value);
			e->arg[i] = value;
		}
		arguments_cut(e, n);
	}
	return raw_end(e, SOURCE_fbt_enter);
}

SEC("?fexit")
int fbt_exit(__u64 *ctx)
{
	__u32 n = copy_number() & (RAW_MOST - 1);
	struct probe_event *e = raw_begin(ctx, n, PREEMPTIBLE);
	__u64 value = 0;

	if (!e)
		return 0;
	bpf_get_func_ret(ctx, &value);
	return raw_return(e, n, value);
}

/* Where there are many functions: one program for all, and the cookie tells which. */
SEC("?kprobe")
int fbt_enter__kprobe(struct pt_regs *ctx)
{
	__u32 n = bpf_get_attach_cookie(ctx) & (RAW_MOST - 1);
	struct probe_event *e = raw_begin(ctx, n, PREEMPTIBLE);

	if (!e)
		return 0;
	if (NEED_ANY(ARGUMENTS)) {
		e->arg[0] = PT_REGS_PARM1(ctx);
		e->arg[1] = PT_REGS_PARM2(ctx);
		e->arg[2] = PT_REGS_PARM3(ctx);
		e->arg[3] = PT_REGS_PARM4(ctx);
		e->arg[4] = PT_REGS_PARM5(ctx);
		e->arg[5] = PARM6(ctx);
		arguments_cut(e, n);
	}
	return raw_end(e, SOURCE_fbt_enter);
}

SEC("?kretprobe")
int fbt_exit__kprobe(struct pt_regs *ctx)
{
	__u32 n = bpf_get_attach_cookie(ctx) & (RAW_MOST - 1);
	struct probe_event *e = raw_begin(ctx, n, PREEMPTIBLE);

	return e ? raw_return(e, n, PT_REGS_RC(ctx)) : 0;
}
