/* SPDX-License-Identifier: GPL-2.0 */
/* One program per kernel event: checks the device once, then calls all that count the event. */
#define TOLD_CALLS
#include "bpf/bql/bql.bpf.h"
#include "bpf/common/host.bpf.h"
#include "bpf/drop/drop.bpf.h"
#include "bpf/events/freed.bpf.h"
#include "bpf/events/returned.bpf.h"
#include "bpf/gro/gro.bpf.h"
#include "bpf/hooks/driver_rx.bpf.h"
#include "bpf/hooks/stack_rx.bpf.h"
#include "bpf/hooks/xmit.bpf.h"
#include "bpf/irq/irq.bpf.h"
#include "bpf/napi/napi.bpf.h"
#include "bpf/pool/pool.bpf.h"
#include "bpf/qdisc/qdisc.bpf.h"
#include "bpf/skblife/skblife.bpf.h"
#include "bpf/txlat/txlat.bpf.h"
#include "bpf/xdp/xdp.bpf.h"

/*
 * The kernel takes 24 ns to run a first program at an event, and 27 for each further one (6.18,
 * retpolines), whatever the programs do: so an event that several meters count has one program.
 * An event that only one meter counts has its program in that meter's file. bpf/events/events.c
 * lists the meters and points that need each program. A program that none of them needs is not
 * loaded, and the verifier removes the calls of meters that are off.
 *
 * Exit programs come first: libbpf attaches in file order, so every entry that this file sees has
 * its exit.
 *
 * Each program also runs for the events of other interfaces, and passes them on (PASS).
 */
volatile __u64 off SEC(".data.off");	/* 1 << METER_x of those removed: lib/attach/set.c */

static __always_inline bool on(enum meter_id id)
{
	return meter_on(id) && !(off & 1ull << id);
}

static __always_inline void used(const struct sk_buff *skb, enum txlat_lane lane)
{
	if (on(METER_skblife))
		life_freed(skb, true);
	if (on(METER_txlat))
		txlat_freed(skb, lane);
	if (on(METER_qdisc))
		qdisc_used(skb);
}

/*
 * The kernel does not enter a program that already runs on this CPU: an event in a softirq that
 * interrupts it in a task would be missed. The second copy runs later, and counts what the first
 * missed (bpf/common/again.bpf.h). A packet that is followed by its address needs no such check:
 * whichever copy comes first ends it.
 */
SEC("tp_btf/consume_skb")
int BPF_PROG(consume_skb, const struct sk_buff *skb)
{
	used(skb, CONSUMED);
	freed_pass(ctx, &to_consume_skb, SHARED_consume_skb, skb, false);
	return 0;
}

SEC("tp_btf/consume_skb")
int BPF_PROG(consume_skb_again, const struct sk_buff *skb)
{
	used(skb, AGAIN);
	freed_pass(ctx, &to_consume_skb_again, SHARED_consume_skb_again, skb, false);
	return 0;
}

/* `ctx`: the packet, the location, the reason, and since 6.11 the socket. */
static __always_inline void freed(const __u64 *ctx, const struct sk_buff *skb,
				  const struct net_device *dev, enum txlat_lane lane)
{
	bool again = lane == AGAIN, asked = false, queued;
	int direction = -1;

	/* The first copy counts nearly all, and what it counts needs no second look. */
	if (again && (on(METER_drop) || on(METER_qdisc)) && dev_may_be_ours(dev)) {
		if (!mine(skb, true))
			return;
		asked = true;
	}
	if (on(METER_skblife))
		life_freed(skb, false);
	if (on(METER_txlat))
		txlat_freed(skb, lane);
	if (on(METER_drop)) {
		direction = drop_whose(ctx, skb, dev);
		FORGET(direction, skb->len);
	}
	queued = on(METER_qdisc) && dev_is_ours(dev);
	if ((direction < 0 && !queued) || (!asked && !mine(skb, again)))
		return;
	if (queued) {
		if (meter_on(METER_drop))
			FORGET(direction, skb->len);
		qdisc_freed(skb, dev, ctx[1], ctx[2]);
	}
	if (direction >= 0)
		drop_add(ctx, skb, dev, direction, again ? DROP_AGAIN : DROP_FIRST);
}

SEC("tp_btf/kfree_skb")
int kfree_skb(__u64 *ctx)
{
	const struct sk_buff *skb = (void *)ctx[0];
	const struct net_device *dev = ARGUMENT_READ(skb, dev);

	freed(ctx, skb, dev, FREED);
	freed_pass(ctx, &to_kfree_skb, SHARED_kfree_skb, skb, true);
	return 0;
}

SEC("tp_btf/kfree_skb")
int kfree_skb_again(__u64 *ctx)
{
	const struct sk_buff *skb = (void *)ctx[0];
	const struct net_device *dev = ARGUMENT_READ(skb, dev);

	freed(ctx, skb, dev, AGAIN);
	freed_pass(ctx, &to_kfree_skb_again, SHARED_kfree_skb_again, skb, true);
	return 0;
}

/*
 * Since 6.19 napi_consume_skb() in a driver defers an skb of another CPU to that CPU, which frees
 * it at its next poll, or untraced. So the packet ends here.
 */
SEC("?fentry/skb_attempt_defer_free")
int BPF_PROG(skb_attempt_defer_free, const struct sk_buff *skb)
{
	if (on(METER_skblife))
		life_freed(skb, true);
	if (on(METER_txlat))
		txlat_freed(skb, AGAIN);
	freed_pass(ctx, &to_skb_attempt_defer_free, SHARED_skb_attempt_defer_free, skb, false);
	return 0;
}

/* skb may be freed by now: only its address may be used. */
SEC("tp_btf/net_dev_xmit")
int BPF_PROG(net_dev_xmit, const struct sk_buff *skb, int rc, const struct net_device *dev)
{
	if (dev_is_other(dev)) {
		PASS(ctx, net_dev_xmit, dev);
		return 0;
	}
	if (point_on(TX_NIC))
		xmit_returned((__u64)skb, rc);
	if (on(METER_txlat))
		txlat_returned(skb, rc);
	if (on(METER_qdisc))
		qdisc_returned(skb, rc, dev);
	if (on(METER_bql))
		bql_returned(skb, rc, dev);
	if (on(METER_skblife))
		life_returned(skb, rc);
	return 0;
}

SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(net_dev_start_xmit, const struct sk_buff *skb, const struct net_device *dev)
{
	if (!dev_is_ours(dev)) {
		PASS(ctx, net_dev_start_xmit, dev);
		return 0;
	}
	if (point_on(TX_NIC))
		xmit_started(skb, dev);
	if (on(METER_bql))
		bql_started(skb, dev);
	if (on(METER_qdisc))
		qdisc_started(skb);
	if (on(METER_skblife))
		life_started(skb);
	if (on(METER_txlat))	/* last: the driver's time begins here */
		txlat_started(skb);
	return 0;
}

SEC("tp_btf/net_dev_queue")
int BPF_PROG(net_dev_queue, const struct sk_buff *skb)
{
	const struct net_device *dev = ARGUMENT_READ(skb, dev);

	if (on(METER_skblife))
		life_queued(skb, dev);
	if (!dev_is_ours(dev)) {
		PASS(ctx, net_dev_queue, dev);
		return 0;
	}
	if (on(METER_bql))
		bql_queued(skb, dev);
	if (on(METER_qdisc))
		qdisc_queued(skb, dev);
	if (point_on(TX_STACK))	/* last, or the verifier repeats the others for each path */
		xmit_queued(skb, dev);
	return 0;
}

/* `ctx`: the NAPI, its work and its budget. */
SEC("tp_btf/napi_poll")
int napi_poll(__u64 *ctx)
{
	const struct napi_struct *napi = (void *)ctx[0];
	const struct net_device *dev = ARGUMENT_READ(napi, dev);
	struct host_cpu *here;

	if (entered(SHARED_napi_poll))
		gro_polled();
	if (on(METER_irq))
		irq_polled(napi, dev, ctx[1]);
	if (on(METER_napi))
		napi_polled(ctx, dev);
	if (!shares(SHARED_napi_poll))
		return 0;
	here = host_here();
	pass_along(ctx, &to_napi_poll, SHARED_napi_poll,
		   (struct chosen){ .set = here ? &here->timed : NULL, .one = device_slot(dev) });
	return 0;
}

SEC("?fentry/__napi_poll")
int BPF_PROG(napi_poll_begins, const struct napi_struct *n)
{
	const struct net_device *dev = n->dev;

	if (!dev_is_ours(dev))
		PASS(ctx, napi_poll_begins, dev);
	else if (on(METER_napi))
		napi_begins(n);
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(softirq_entry, unsigned int vec)
{
	struct host_cpu *here;

	if (vec != NET_RX_SOFTIRQ)
		return 0;
	/* before napi_entered(): it may end the timing */
	here = shares(SHARED_softirq_entry) ? host_here() : NULL;
	if (on(METER_napi))
		napi_entered();
	if (here)
		pass_along(ctx, &to_softirq_entry, SHARED_softirq_entry,
			   (struct chosen){ .set = &here->timed });
	return 0;
}

SEC("tp_btf/softirq_raise")
int BPF_PROG(softirq_raise, unsigned int vec)
{
	__u32 slot = TOLD(slot);

	if (vec != NET_RX_SOFTIRQ)
		return 0;
	if (shares(SHARED_softirq_raise))
		slot = raised_slot();
	if (slot != TOLD(slot))
		pass_to(ctx, &to_softirq_raise, SHARED_softirq_raise, slot);
	else if (on(METER_napi))
		napi_raised();
	return 0;
}

static __always_inline void gro_exit(void *ctx, void *next, enum shared_program program,
				     int result)
{
	struct host_cpu *here;

	if (on(METER_gro))
		gro_left(result);
	if (on(METER_skblife))
		gro_done(result);
	if (!shares(program) || !host.gro_armed)
		return;
	here = host_here();
	if (!here || !here->gro_row)
		return;
	pass_to(ctx, next, program, here->gro_slot);
	here->gro_row = 0;		/* nobody's: it was detached meanwhile */
}

SEC("tp_btf/napi_gro_receive_exit")
int BPF_PROG(napi_gro_receive_exit, int result)
{
	gro_exit(ctx, &to_napi_gro_receive_exit, SHARED_napi_gro_receive_exit, result);
	return 0;
}

SEC("tp_btf/napi_gro_frags_exit")
int BPF_PROG(napi_gro_frags_exit, int result)
{
	gro_exit(ctx, &to_napi_gro_frags_exit, SHARED_napi_gro_frags_exit, result);
	return 0;
}

static __always_inline void buffer_count(const struct sk_buff *skb, const struct net_device *dev)
{
	struct frame f = {};

	frame_look(&f, RX_STACK, false, skb, dev);
	if (on(METER_gro) && !is_set(buffers_at_tc))
		gro_buffer(&f.packet);
	if (point_on(RX_STACK))
		stack_received(&f, skb);
}

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(netif_receive_skb, const struct sk_buff *skb)
{
	const struct net_device *dev;

	if (!skb)
		return 0;
	dev = ARGUMENT_READ(skb, dev);
	if (on(METER_skblife))
		in_stack(skb, dev);
	if (!dev_is_ours(dev)) {
		PASS(ctx, netif_receive_skb, dev);
		return 0;
	}
	if ((point_on(RX_STACK) || meter_on(METER_gro)) && !from_ifb(skb))
		buffer_count(skb, dev);
	return 0;
}

static __always_inline void frame_count(const struct sk_buff *skb, const struct net_device *dev,
					enum delivery how)
{
	struct frame f = {};

	if (how == PAST_GRO && !point_on(RX_NIC) && !skb_is_gso(skb)) {
		if (on(METER_gro))
			gro_passes(row_of(0, skb_rx_queue(skb, dev)), NULL);
		return;
	}
	frame_look(&f, RX_NIC, how == TO_GRO_FRAGS, skb, dev);
	if (on(METER_gro) && how == PAST_GRO)
		gro_passes(f.packet.row - row_of(RX_NIC, 0), &f);
	else if (on(METER_gro))
		gro_enters(&f, skb, dev);
	if (point_on(RX_NIC))
		delivered(&f, skb);
}

static __always_inline void driver_delivers(void *ctx, void *next, enum shared_program program,
					    const struct sk_buff *skb, enum delivery how)
{
	const struct net_device *dev;

	if (!skb)	/* napi_gro_frags with no packet in it */
		return;
	dev = ARGUMENT_READ(skb, dev);
	if (on(METER_skblife))
		life_received(skb, dev, how);
	if (!dev_is_ours(dev)) {
		pass_on(ctx, next, program, dev);
		return;
	}
	if ((point_on(RX_NIC) || meter_on(METER_gro)) && !had_before(skb, how))
		frame_count(skb, dev, how);
}

#define DELIVERY(event, how)							\
	SEC("tp_btf/" #event)							\
	int BPF_PROG(event, const struct sk_buff *skb)				\
	{									\
		driver_delivers(ctx, &to_##event, SHARED_##event, skb, how);	\
		return 0;							\
	}
DELIVERY(napi_gro_receive_entry, TO_GRO)
DELIVERY(napi_gro_frags_entry, TO_GRO_FRAGS)
DELIVERY(netif_receive_skb_entry, PAST_GRO)
DELIVERY(netif_receive_skb_list_entry, PAST_GRO)
DELIVERY(netif_rx_entry, PAST_GRO)

char _license[] SEC("license") = "GPL";
