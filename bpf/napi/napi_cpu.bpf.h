/* SPDX-License-Identifier: GPL-2.0 */
/* State of a CPU while it polls, and the kernel's per-CPU variables on it. */
#ifndef NICPROBE_NAPI_CPU_BPF_H
#define NICPROBE_NAPI_CPU_BPF_H

#include "bpf/common/dev.bpf.h"
#include "bpf/common/host.bpf.h"
#include "bpf/common/run_queue.bpf.h"

/* Softirqs of a CPU that are timed after a poll of ours; the others cost no clock read. */
#define ARMED		64

/* The row of the last NAPI, cached: most CPUs poll one. */
struct napi_seen {
	__u64 napi;
	__u32 id, row;			/* row | NAPI_TX */
};

/*
 * Polls never nest: they run in softirqs or with softirqs off. A raise can come in an interrupt at
 * any time; it writes only `seen_raised`, `stranger` and `armed`, and `raised` of a row.
 */
struct napi_cpu {
	struct napi_seen seen_polled, seen_raised;
	__u64 softnet;			/* its struct softnet_data, once it is known */
	__u64 ksoftirqd;
	__u64 stranger;			/* the last scheduled NAPI that is not ours */
	__u32 armed;			/* softirqs still to be timed */
	__u32 squeeze;			/* softnet_data.time_squeeze before our first poll… */
	__u32 squeezable;		/* …if there was one in this softirq */
	__u32 eater;			/* row + 1 of the NAPI with the longest poll; 0: not ours */
	__u64 longest;			/* time of that poll */
	__u64 since;			/* a poll begins after this; 0: not known */
	__u64 begun;			/* the NAPI that began then, if fentry saw it */
};
SCRATCH_MAP(napi_cpu, struct napi_cpu);

/* Number of armed CPUs: if 0, polls and softirqs of others cost one read. */
static __u32 armed_cpus;

/* Where another interface's program passes events on: from now on all polls of this CPU, or not. */
static __always_inline void timed_here(bool timed)
{
	struct host_cpu *here = TOLD(slot) ? host_here() : NULL;
	__u64 *word = here ? &here->timed.word[SLOT_WORD(TOLD(slot))] : NULL;

	if (word && timed)
		__sync_fetch_and_or(word, SLOT_BIT(TOLD(slot)));
	else if (word)
		__sync_fetch_and_and(word, ~SLOT_BIT(TOLD(slot)));
}

static __always_inline void arm(struct napi_cpu *cpu)
{
	/* a raise in an interrupt may come in between: whoever finds 0 counts the CPU */
	if (cpu->armed) {
		cpu->armed = ARMED;
	} else if (!__sync_lock_test_and_set(&cpu->armed, ARMED)) {
		__sync_fetch_and_add(&armed_cpus, 1);
		timed_here(true);
	}
}

static __always_inline struct napi_cpu *cpu_now(void)
{
	return scratch_here(napi_cpu);
}

static __noinline int percpu_find(struct napi_cpu *cpu)
{
	__u64 rq;

	if (!cpu || !is_set(percpu))
		return 0;
	rq = run_queue();
	if (!rq)
		return 0;
	bpf_probe_read_kernel(&cpu->ksoftirqd, 8, (void *)rq + TOLD(ksoftirqd));
	cpu->softnet = rq + TOLD(softnet_data);
	return 0;
}

/* This CPU's softnet_data; NULL: not known. */
static __always_inline const struct softnet_data *softnet(struct napi_cpu *cpu)
{
	if (!cpu->softnet)
		percpu_find(cpu);
	return (void *)cpu->softnet;
}

#endif
