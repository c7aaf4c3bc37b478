/* SPDX-License-Identifier: GPL-2.0 */
/* Interrupts of interfaces, transmit queues that are stopped, and links that come and go. */
#include "bpf/common/txq.bpf.h"
#include "probes/told.h"

#define IRQ_NONE	0
#define IRQF_SHARED	0x80
#define DRV_XOFF	(1ul << 0)	/* __QUEUE_STATE_DRV_XOFF and _STACK_XOFF, since 3.3 */
#define STACK_XOFF	(1ul << 1)

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 8192);
	__type(key, struct irq_handler);
	__type(value, struct irq_known);
} irqs SEC(".maps");

/* When the handler of an interrupt returns: then it is known whether it was for it. */
SEC("tp_btf/irq_handler_exit")
int BPF_PROG(irq_handler_exit, int irq, const struct irqaction *action, int ret)
{
	struct irq_handler handler = {};
	struct irq_known *known;
	struct probe_event *e;

	/*
	 * The line is shared, and it was another device. On a line of its own it is this one, whose
	 * driver had done the work already: virtio_net frees what was sent when it sends the next.
	 */
	if (ret == IRQ_NONE && ARGUMENT(action)->flags & IRQF_SHARED)
		return 0;
	bpf_probe_read_kernel_str(handler.name, sizeof(handler.name), ARGUMENT(action)->name);
	known = bpf_map_lookup_elem(&irqs, &handler);
	if (!known || (known->only && known->only != (__u32)irq))
		return 0;
	e = event_begin(NULL, TRACEPOINT);
	if (!e)
		return 0;
	e->netns = query.netns;
	__builtin_memcpy(e->if_name, known->if_name, sizeof(e->if_name));
	e->if_index = known->ifindex;
	e->if_local = 0;
	e->irq = irq;
	__builtin_memcpy(e->irq_name, handler.name, sizeof(e->irq_name) - 1);
	e->irq_name[sizeof(e->irq_name) - 1] = 0;
	__builtin_memcpy(e->irq_serves, known->serves, sizeof(e->irq_serves));
	e->have |= HAVE(IF) | HAVE(IRQ);
	if (known->queue >= 0) {
		e->if_queue = known->queue;
		e->have |= HAVE(QUEUE);
	}
	FIRE(e, irq_handler_exit, nic_irq);
	event_end(e);
	return 0;
}

/* Run by user space, which knows of it: so that links are asked for as all others are. */
SEC("syscall")
int rtnetlink(struct link_change *change)
{
	struct probe_event *e;

	if (query.ifindex && query.ifindex != change->ifindex)
		return 0;
	e = event_begin(NULL, PREEMPTIBLE);
	if (!e)
		return 0;
	e->netns = query.netns;
	__builtin_memcpy(e->if_name, change->name, sizeof(e->if_name));
	e->if_index = change->ifindex;
	e->if_local = change->loopback;
	e->link_up = change->up;
	e->have |= HAVE(IF) | HAVE(LINK);
	FIRE(e, rtnetlink, nic_link);
	event_end(e);
	return 0;
}

/* Queues that were seen to be stopped, by the address of their struct netdev_queue. */
struct stopped {
	__u64 since;
	__u64 by;		/* enum stopper */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, struct stopped);
} stopped SEC(".maps");

/* The packet that a driver is given on this CPU: afterwards it may be gone. */
struct sending {
	__u64 skb, dev;
	__u32 queue;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sending);
} sending SEC(".maps");

/* Who asks for stops, or for how long they took. */
#define STOPS	(SERVES(net_dev_xmit, BIT(nic_tx_stop)) ||			\
		 SERVES(net_dev_start_xmit, BIT(nic_tx_wake)))

static __always_inline struct probe_event *queue_event(const struct net_device *dev, __u32 queue,
						       const struct stopped *s)
{
	struct probe_event *e = event_begin(dev->nd_net.net, TRACEPOINT);

	if (!e)
		return NULL;
	interface_fill(e, dev, query.need);
	e->if_queue = queue;
	e->stop_by = s->by;
	e->have |= HAVE(QUEUE) | HAVE(STOP);
	return e;
}

/* A queue that sends is not stopped any more. */
static __always_inline void queue_sends(const struct sk_buff *skb, const struct net_device *dev)
{
	struct sending *now = bpf_map_lookup_elem(&sending, &(__u32){ 0 });
	__u32 queue = skb->queue_mapping;
	__u64 key = (__u64)txq_of(dev, queue);
	struct stopped *seen = bpf_map_lookup_elem(&stopped, &key), was;
	struct probe_event *e;

	if (now)
		*now = (struct sending){ .skb = (__u64)skb, .dev = (__u64)dev, .queue = queue };
	if (!seen)
		return;
	was = *seen;
	if (bpf_map_delete_elem(&stopped, &key) || !SERVES(net_dev_start_xmit, BIT(nic_tx_wake)))
		return;
	e = queue_event(dev, queue, &was);
	if (!e)
		return;
	e->stop_ns = bpf_ktime_get_ns() - was.since;
	e->have |= HAVE(WAKE);
	FIRE(e, net_dev_start_xmit, nic_tx_wake);
	event_end(e);
}

/* The driver has returned: is its queue stopped now? `skb` may be freed: it is only an address. */
static __always_inline void queue_sent(const void *skb, const struct net_device *dev)
{
	struct sending *now = bpf_map_lookup_elem(&sending, &(__u32){ 0 });
	const struct netdev_queue *txq;
	struct stopped s = {};
	struct probe_event *e;
	unsigned long state;
	__u64 key;

	/* a device above another has sent the same packet within: it has no queue that stops */
	if (!now || now->skb != (__u64)skb || now->dev != (__u64)dev)
		return;
	now->skb = 0;
	txq = txq_of(dev, now->queue);
	state = PLAIN(txq, state) & (DRV_XOFF | STACK_XOFF);
	if (!state)
		return;
	key = (__u64)txq;
	s.since = bpf_ktime_get_ns();
	s.by = state & DRV_XOFF ? STOPPER_DRIVER : STOPPER_BQL;
	if (bpf_map_lookup_elem(&stopped, &key))
		return;
	if (bpf_map_update_elem(&stopped, &key, &s, BPF_NOEXIST)) {
		lose(LOST_TIME);
		return;
	}
	if (!SERVES(net_dev_xmit, BIT(nic_tx_stop)))
		return;
	e = queue_event(dev, now->queue, &s);
	if (!e)
		return;
	FIRE(e, net_dev_xmit, nic_tx_stop);
	event_end(e);
}
