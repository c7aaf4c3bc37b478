/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One program counts calls, one starts the clock of timed functions, one stops it at their return.
 * They read no arguments, so attach can load each for whatever attach method this kernel has.
 */
#include "lib/core/meter.bpf.h"
#include "bpf/driver/driver.h"

MAP(PERCPU_ARRAY, driver, __u32, struct driver_calls, 1);

MAP(PERCPU_ARRAY, driver_times, __u32, struct driver_times, 1);

MAP(LRU_HASH, driver_frames, __u32, struct driver_frames, 1);

/* Read by `show`. */
MAP(ARRAY, driver_functions, __u32, struct driver_function, 1);

/*
 * A task, including what interrupts it, leaves functions in the reverse order of entry, on
 * whatever CPU. Idle tasks all have pid 0, and each stays on its CPU.
 */
static __always_inline __u32 task(void)
{
	return (__u32)bpf_get_current_pid_tgid() ?: 1u << 31 | bpf_get_smp_processor_id();
}

static __always_inline void count(__u32 row)
{
	struct driver_calls *c = row_at(&driver, row);

	if (c)
		c->calls++;
}

static __always_inline void lose(__u32 row)
{
	struct driver_calls *c = row_at(&driver, row);

	if (c)
		c->lost++;
}

SEC("tp")
int driver_enter(void *ctx)
{
	if (has_begun())
		count(bpf_get_attach_cookie(ctx));
	return 0;
}

SEC("tp")
int driver_begin(void *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);
	struct driver_frames *f, none = {};
	__u32 who = task(), deep;

	if (!has_begun())
		return 0;
	count(cookie);
	f = lookup_or_init(&driver_frames, &who, &none);
	if (!f) {
		lose(cookie);
		return 0;
	}
	deep = f->deep;
	if (deep >= DRIVER_DEEP) {	/* returns were missed: trust none of these */
		for (__u32 i = 0; i < DRIVER_DEEP; i++)
			lose(f->frame[i].row);
		deep = 0;
	}
	f->frame[deep].row = cookie;
	f->deep = deep + 1;
	f->frame[deep].since = bpf_ktime_get_ns();
	return 0;
}

/* Functions above it on the stack have returned unseen. */
SEC("tp")
int driver_end(void *ctx)
{
	__u64 now = bpf_ktime_get_ns(), cookie = bpf_get_attach_cookie(ctx);
	__u32 who = task(), row = cookie, time = cookie >> 32;
	struct driver_frames *f = bpf_map_lookup_elem(&driver_frames, &who);
	struct driver_times *t;
	__u32 at = DRIVER_DEEP;

	if (!f)
		return 0;
	for (__u32 i = 0; i < DRIVER_DEEP; i++)
		if (i < f->deep && f->frame[i].row == row)
			at = i;
	if (at >= DRIVER_DEEP)
		return 0;	/* begun before we were attached */
	for (__u32 i = 0; i < DRIVER_DEEP; i++)
		if (i > at && i < f->deep)
			lose(f->frame[i].row);
	f->deep = at;
	t = row_at(&driver_times, time);
	if (t)
		HIST_ADD(t->time, loglin_slot(now - f->frame[at].since),
			 now - f->frame[at].since);
	return 0;
}

char _license[] SEC("license") = "GPL";
