/* SPDX-License-Identifier: GPL-2.0 */
/* Every poll of our NAPIs: packets, time, who polled, the wait before it; bursts and runs. */
#ifndef NICPROBE_NAPI_BPF_H
#define NICPROBE_NAPI_BPF_H

#include "bpf/common/napi_rank.bpf.h"
#include "bpf/napi/napi_cpu.bpf.h"
#include "bpf/napi/napi.h"
#include <bpf/bpf_tracing.h>

#define NET_RX_SOFTIRQ	3
#define SCHED		(1 << 0)	/* bits of napi->state, the same since 5.12 */
#define IN_BUSY_POLL	(1 << 6)

METER_MAP(napi);

/* The NAPI at the end of a CPU's list. */
static __always_inline const struct napi_struct *napi_last(const struct softnet_data *sd)
{
	return (void *)PLAIN(sd, poll_list.prev) -
	       bpf_core_field_offset(struct napi_struct, poll_list);
}

/*
 * A NAPI without an id cannot be busy-polled (netif_napi_add_tx()): it completes sent packets, as
 * in virtio_net. It receives only on devices without a bus (tun, tunnels), which have no completion
 * interrupts.
 */
static __always_inline __u32 nameless_row(__u64 dev, __u64 napi)
{
	const struct net_device *d = (void *)dev;

	if (BPF_CORE_READ(d, dev.parent))
		return row_of(0, nameless_rank(dev, napi)) | NAPI_TX;
	return TOLD(rx_queues) > 1 ? row_of(0, nameless_rank(dev, napi)) : 0;
}

static __always_inline __u32 napi_row(__u64 dev, __u64 napi, __u32 id)
{
	__u32 queue;

	if (!id)
		return nameless_row(dev, napi);
	if (TOLD(rx_queues) == 1)
		return 0;
	queue = napi_queue_of((void *)dev, id);
	return row_of(0, queue & ~NAPI_TX) | (queue & NAPI_TX);
}

static __always_inline __u32 seen_row(struct napi_seen *seen, __u64 dev, __u64 napi, __u32 id)
{
	if (seen->napi != napi || seen->id != id) {
		seen->row = napi_row(dev, napi, id);
		seen->id = id;
		seen->napi = napi;
	}
	return *(volatile __u32 *)&seen->row;	/* of whose value the verifier knows nothing */
}

/* The row of `n`; NULL: it only transmits. */
static __always_inline struct napi *row_raised(struct napi_cpu *cpu, const struct net_device *dev,
					       const struct napi_struct *n)
{
	__u32 nr = seen_row(&cpu->seen_raised, (__u64)dev, (__u64)n, PLAIN(n, napi_id));

	return nr & NAPI_TX ? NULL : own_row(napi, nr);
}

/* net_rx_action() updates time_squeeze after its last poll: this is about the previous softirq. */
static __always_inline void squeeze_charge(struct napi_cpu *cpu)
{
	const struct softnet_data *sd = softnet(cpu);
	struct napi *row = cpu->eater ? own_row(napi, cpu->eater - 1) : NULL;

	cpu->squeezable = 0;
	if (sd && row)
		row->squeezed += (__u32)(PLAIN(sd, time_squeeze) - cpu->squeeze);
}

/* A poll ended: it took the time since the previous event. `eater`: its row + 1, or 0. */
static __always_inline void poll_took(struct napi_cpu *cpu, __u64 since, __u64 now, __u32 eater)
{
	cpu->since = now;
	cpu->begun = 0;
	if (!since || now - since < cpu->longest)
		return;
	cpu->longest = now - since;
	cpu->eater = eater;
}

static __always_inline enum napi_by who(const struct napi_struct *n, int budget,
					 __u64 ksoftirqd)
{
	__u64 task = bpf_get_current_task();

	if (!budget)
		return NAPI_NETPOLL;
	/* busy_poll_stop() clears the bit before its last poll, which still has its budget */
	if (n->state & IN_BUSY_POLL || budget != n->weight)
		return NAPI_BUSY_POLL;
	if (task == (__u64)ARGUMENT(n)->thread)
		return NAPI_THREAD;
	return task == ksoftirqd ? NAPI_KSOFTIRQD : NAPI_SOFTIRQ;
}

/*
 * A NAPI waited from the raise until its poll began. A later stamp is from an interrupt during the
 * poll: if it is to be polled again, it has been waiting since then.
 */
static __always_inline void wait_end(const struct napi_struct *n, struct napi *row,
				     __u64 since)
{
	__u64 stamp = row->raised;

	row->raised = 0;
	if (!stamp || !since)
		return;
	if (stamp <= since)
		HIST_ADD(row->wait, loglin_slot(since - stamp), since - stamp);
	else if (n->state & SCHED)
		row->raised = stamp;
}

/* Counts a window once it is over; if no packet follows, user space does. */
#define WINDOW_ADD(row, hist, window, time, work) do {					\
	if ((row)->window.nr != (time)) {						\
		if ((row)->window.packets)						\
			HIST_ADD((row)->hist, counts_slot((row)->window.packets),	\
				 (row)->window.packets);				\
		(row)->window.nr = (time);						\
		(row)->window.packets = 0;						\
	}										\
	(row)->window.packets += (work);						\
} while (0)

static __always_inline void run_add(struct napi *row, bool exhausted, __u32 work)
{
	__u64 before = row->running, near = TOLD(rx_ring) - TOLD(rx_ring) / 4;

	if (exhausted) {
		row->running = before + work;
		row->near += TOLD(rx_ring) && before < near && before + work >= near;
	} else if (before) {
		HIST_ADD(row->run, counts_slot(before), before);
		row->running = 0;
	}
}

static __always_inline void napi_count(struct napi *row, enum napi_by by, __u32 work, __u32 budget,
				  __u64 now)
{
	bool exhausted = work >= budget && by <= NAPI_THREAD;

	HIST_ADD(row->work, counts_slot(work), work);
	row->exhausted += exhausted;
	run_add(row, exhausted, work);
	if (!work)
		return;
	now /= NAPI_WINDOW;
	WINDOW_ADD(row, burst, window, now, work);
	now /= NAPI_LONG;
	WINDOW_ADD(row, burst_long, window_long, now, work);
}

static __always_inline void times(const struct napi_struct *n, struct napi *row,
				  struct napi_cpu *cpu, bool softirq, __u64 since, __u64 now)
{
	const struct softnet_data *sd;
	bool exact = cpu->begun == (__u64)n;

	row->timed[!since ? NAPI_UNTIMED : exact ? NAPI_EXACT : NAPI_BOUND]++;
	if (since)
		HIST_ADD(row->time, loglin_slot(now - since), now - since);
	wait_end(n, row, softirq ? since : 0);
	if (!softirq || cpu->squeezable)
		return;
	sd = softnet(cpu);
	if (!sd)
		return;
	cpu->squeeze = PLAIN(sd, time_squeeze);
	cpu->squeezable = 1;
}

/* It is ours, whoever's a NAPI in this memory was when raised_slot() looked at it. */
static __always_inline void raised_anew(__u64 n)
{
	struct host_cpu *here = host_here();

	if (here && here->raised == n && here->raised_slot != TOLD(slot))
		here->raised = 0;
}

/* `ctx`: the NAPI, its work and its budget. */
static __always_inline int napi_polled(const __u64 *ctx, const struct net_device *dev)
{
	const struct napi_struct *n = (void *)ctx[0];
	struct napi_cpu *cpu;
	__u64 since, now;
	int work, budget;
	enum napi_by by;
	struct napi *row;
	__u32 nr;

	if (dev_is_other(dev) && !armed_cpus)
		return 0;
	barrier();
	work = ctx[1];
	budget = ctx[2];
	cpu = cpu_now();
	if (!cpu)
		return 0;
	if (!dev_is_ours(dev)) {
		if (cpu->armed)
			poll_took(cpu, cpu->since, bpf_ktime_get_ns(), 0);
		return 0;
	}
	if (cpu->stranger == (__u64)n)	/* this memory belonged to another NAPI then */
		cpu->stranger = 0;
	if (!entered(SHARED_softirq_raise) || calls(SHARED_softirq_raise))
		raised_anew((__u64)n);
	now = bpf_ktime_get_ns();
	nr = seen_row(&cpu->seen_polled, (__u64)dev, (__u64)n, n->napi_id);
	row = own_row(napi, nr & ~NAPI_TX);
	if (!row)
		return 0;
	arm(cpu);
	softnet(cpu);			/* also sets ksoftirqd */
	by = who(n, budget, cpu->ksoftirqd);
	/* Outside softirqs the previous event on this CPU was no poll: only fentry knows. */
	since = by <= NAPI_KSOFTIRQD || cpu->begun == (__u64)n ? cpu->since : 0;
	if (nr & NAPI_TX) {
		row->tx_polls++;
		poll_took(cpu, since, now, 0);
		return 0;
	}
	row->polls[by]++;
	FORGET(by, work);
	napi_count(row, by, work, budget, now);
	times(n, row, cpu, by <= NAPI_KSOFTIRQD, since, now);
	if (by <= NAPI_KSOFTIRQD && work >= budget)	/* it stays in the list and waits */
		row->raised = now;
	poll_took(cpu, since, now, by <= NAPI_KSOFTIRQD ? nr + 1 : 0);
	return 0;
}

static __always_inline void napi_entered(void)
{
	struct napi_cpu *cpu;

	if (!armed_cpus)
		return;
	cpu = cpu_now();
	if (!cpu || !cpu->armed)
		return;
	if (cpu->squeezable)
		squeeze_charge(cpu);
	cpu->eater = 0;
	cpu->longest = 0;
	if (--cpu->armed) {
		cpu->since = bpf_ktime_get_ns();
	} else {
		cpu->since = 0;
		__sync_fetch_and_add(&armed_cpus, -1);
		timed_here(false);
	}
}

/*
 * ____napi_schedule() appends a NAPI to the list of its CPU, then raises the softirq; since 6.5 not
 * if that CPU is already in net_rx_action(). If something else raises it, the last NAPI in the list
 * is not ours or already has its stamp.
 */
static __always_inline void napi_raised(void)
{
	const struct softnet_data *sd;
	const struct napi_struct *n;
	const struct net_device *dev;
	struct napi_cpu *cpu;
	struct napi *row;

	cpu = cpu_now();
	sd = cpu ? softnet(cpu) : NULL;
	if (!sd)
		return;
	n = napi_last(sd);
	if ((__u64)n == cpu->stranger)
		return;
	dev = PLAIN(n, dev);
	if (!plain_dev_is_it(dev)) {
		cpu->stranger = (__u64)n;
		return;
	}
	if (!has_begun())
		return;
	row = row_raised(cpu, dev, n);
	if (row && !row->raised)
		row->raised = bpf_ktime_get_ns();
	arm(cpu);
}

/*
 * The slot of the NAPI that napi_raised() looks at. Looked up once: most CPUs schedule one. Not a
 * function of its own: a call takes 12 ns where returns are mitigated (Safe RET), as much as this.
 */
static __always_inline __u32 raised_slot(void)
{
	struct host_cpu *here = host_here();
	const struct napi_struct *n;
	__u32 current = host.current;

	if (!here)
		return 0;
	if (!here->softnet && is_set(percpu)) {
		__u64 rq = run_queue();

		here->softnet = rq ? rq + TOLD(softnet_data) : 0;
	}
	if (!here->softnet)
		return 0;
	n = napi_last((void *)here->softnet);
	if (here->raised != (__u64)n || here->raised_current != current) {
		here->raised_slot = device_slot(PLAIN(n, dev));
		here->raised_current = current;
		here->raised = (__u64)n;
	}
	return here->raised_slot;
}

/* Only fentry sees a poll begin. */
static __always_inline void napi_begins(const struct napi_struct *n)
{
	struct napi_cpu *cpu = cpu_now();

	if (!cpu)
		return;
	cpu->since = bpf_ktime_get_ns();
	cpu->begun = (__u64)n;
}

#endif
