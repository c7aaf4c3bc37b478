/* SPDX-License-Identifier: GPL-2.0 */
/* Interrupts of one device, by vector and CPU, and the polls they cause. */
#ifndef NICPROBE_IRQ_BPF_H
#define NICPROBE_IRQ_BPF_H

#include "bpf/common/asked.bpf.h"
#include "bpf/common/napi_rank.bpf.h"
#include "bpf/irq/irq.h"
#include <bpf/bpf_tracing.h>

#define IRQ_NONE	0
#define STALE		1000000000ull	/* ns: an interrupt older than this caused no poll */

/* Not per CPU: the CPU is in the key, so a row has one writer. */
MAP(HASH, irq, struct irq_key, struct irq, 1024);

/* The device's interrupts, found by name: the number changes when one is requested again. */
MAP(ARRAY, irq_vectors, __u32, struct irq_vector, 1);

struct irq_name {
	char name[IRQ_NAME];
};
MAP(HASH, irq_names, struct irq_name, __u32, 1);	/* its index in irq_vectors */

/* What we know of an interrupt number, valid while its handler stays the same. */
struct irq_seen {
	__u64 action, name;		/* addresses */
	__u64 place;			/* index in irq_vectors, + 1; 0: another device's */
};
MAP(ARRAY, irq_seen, __u32, struct irq_seen, 1);

/* Whose an interrupt is not; those with higher numbers ask all. */
MAP(ARRAY, host_irqs, __u32, struct asked, 2048);

/* The vector of each receive queue, then of each transmit queue: place + 1; 0: none. */
MAP(ARRAY, irq_queue, __u32, __u32, 1);

/* The handler that runs on this CPU: interrupts are off, so they do not nest. */
struct irq_now {
	__u64 action, stamp;
	__u64 place;			/* + 1; 0: none of ours */
};
MAP(PERCPU_ARRAY, irq_now, __u32, struct irq_now, 1);

/*
 * The handler writes its words with interrupts off, the poll in a softirq or a thread of this CPU
 * with softirqs off: they may interrupt each other but write different words.
 */
static __always_inline struct irq *irq_row(const struct irq_vector *v, __u32 nr)
{
	struct irq_key key = v->key;
	static const struct irq blank;
	struct irq *row;

	key.irq = nr;
	key.cpu = bpf_get_smp_processor_id();
	row = lookup_or_init(&irq, &key, &blank);
	if (!row)
		lost_add(METER_irq, 1);
	return row;
}

/* From now on, assigns the polls of a vector's queues to it. */
static __always_inline void irq_serves(const struct irq_vector *v, __u32 place)
{
	__u32 rx = v->key.rx, tx = TOLD(rows) + v->key.tx;

	if (v->key.rx >= 0 && rx < TOLD(rows))
		bpf_map_update_elem(&irq_queue, &rx, &place, BPF_ANY);
	if (v->key.tx >= 0)
		bpf_map_update_elem(&irq_queue, &tx, &place, BPF_ANY);
}

/* Identifies by name an interrupt that is new or has a new handler. */
static __noinline __u64 irq_recognise(__u32 nr, __u64 action, __u64 name)
{
	struct irq_seen seen = { .action = action, .name = name };
	struct irq_name text = {};
	struct irq_vector *v;
	__u32 *place;

	bpf_probe_read_kernel_str(text.name, sizeof(text.name), (void *)name);
	place = bpf_map_lookup_elem(&irq_names, &text);
	v = place ? row_at(&irq_vectors, *place) : NULL;
	if (v && !(v->strict && v->key.irq != nr)) {
		v->key.irq = nr;
		v->stamp = 0;
		seen.place = *place + 1;
		irq_serves(v, seen.place);
	}
	bpf_map_update_elem(&irq_seen, &nr, &seen, BPF_ANY);
	return seen.place;
}

/* The index in irq_vectors of the vector of a NAPI, + 1; 0: not known. */
static __always_inline __u32 irq_place(const struct napi_struct *napi,
				       const struct net_device *dev)
{
	__u32 id = napi->napi_id, queue = 0, *place;
	bool tx = !id;		/* it only transmits: netif_napi_add_tx() */

	if (tx) {
		queue = nameless_rank((__u64)dev, (__u64)napi);
	} else if (TOLD(rx_queues) > 1) {
		queue = napi_queue_of(dev, id);
		tx = queue & NAPI_TX;
		queue &= ~NAPI_TX;
	}
	if (queue >= TOLD(rows) - 1)
		return 0;
	place = row_at(&irq_queue, queue + tx * TOLD(rows));
	return place ? *place : 0;
}

static __always_inline struct asked *irq_asked(__u32 nr, const struct irqaction *action)
{
	struct asked *a = row_at(&host_irqs, nr);

	if (a)
		asked_renew(a, (__u64)action, (__u64)action->name);
	return a;
}

static __always_inline void irq_ended(__u32 nr, const struct irqaction *action, int ret)
{
	struct irq_now *now = row_at(&irq_now, 0);
	struct irq_vector *v;
	struct irq *row;
	__u64 ns;

	if (!now || !now->place || now->action != (__u64)action)
		return;
	v = row_at(&irq_vectors, now->place - 1);
	now->place = 0;
	row = v ? irq_row(v, nr) : NULL;
	if (!row)
		return;
	ns = bpf_ktime_get_ns() - now->stamp;
	row->interrupts++;
	row->unhandled += ret == IRQ_NONE;
	HIST_ADD(row->handler, loglin_slot(ns), ns);
}

/* Exit programs first: libbpf attaches in this order, so every entry seen has its exit. */
SEC("tp_btf/irq_handler_exit")
int BPF_PROG(irq_end, int nr, const struct irqaction *action, int ret)
{
	if (meter_on(METER_irq))
		irq_ended(nr, action, ret);
	if (shares(SHARED_irq_end))
		pass_along(ctx, &to_irq_end, SHARED_irq_end, asked_slots(irq_asked(nr, action)));
	return 0;
}

static __always_inline int irq_polled(const struct napi_struct *napi, const struct net_device *dev,
				      int work)
{
	struct irq_vector *v;
	struct irq *row;
	__u64 stamp, ns;
	__u32 place;

	if (!dev_is_ours(dev))
		return 0;
	place = irq_place(napi, dev);
	v = place ? row_at(&irq_vectors, place - 1) : NULL;
	row = v ? irq_row(v, v->key.irq) : NULL;
	if (!row)
		return 0;
	row->polls++;
	row->packets += work > 0 ? work : 0;
	stamp = v->stamp;
	if (!stamp)	/* a repeated or busy poll: no interrupt came before */
		return 0;
	row->elsewhere += v->cpu != bpf_get_smp_processor_id();
	v->stamp = 0;
	ns = bpf_ktime_get_ns() - stamp;
	HIST_ADD(row->to_poll, loglin_slot(ns), ns);
	return 0;
}

/* False: it is another device's. */
static __always_inline bool irq_begins(__u32 nr, const struct irqaction *action)
{
	__u64 name = (__u64)action->name, place, stamp;
	struct irq_seen *seen = row_at(&irq_seen, nr);
	struct irq_vector *v;
	struct irq_now *now;

	if (seen && seen->action == (__u64)action && seen->name == name)
		place = seen->place;
	else
		place = irq_recognise(nr, (__u64)action, name);
	if (!place)
		return false;
	v = row_at(&irq_vectors, place - 1);
	now = row_at(&irq_now, 0);
	if (!v || !now || !has_begun())
		return true;
	stamp = bpf_ktime_get_ns();
	now->action = (__u64)action;
	now->place = place;
	now->stamp = stamp;
	if (!v->stamp || stamp - v->stamp > STALE) {
		v->cpu = bpf_get_smp_processor_id();
		v->stamp = stamp;
	}
	return true;
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(irq_begin, int nr, const struct irqaction *action)
{
	struct asked *a = irq_asked(nr, action);

	if (meter_on(METER_irq) && asked_us(a) && !irq_begins(nr, action))
		asked_no(a);
	if (shares(SHARED_irq_begin))
		pass_along(ctx, &to_irq_begin, SHARED_irq_begin, asked_slots(a));
	return 0;
}

#endif
