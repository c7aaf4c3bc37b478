/* SPDX-License-Identifier: GPL-2.0 */
/* Passes on the event that a packet is freed to the interface whose packet it may be. */
#ifndef NICPROBE_FREED_BPF_H
#define NICPROBE_FREED_BPF_H

#include "bpf/common/host.bpf.h"
#include "bpf/drop/drop.bpf.h"

/*
 * Passes on a dropped packet without a device to those whose it may be: drop_whose() of each will
 * tell, by the same facts.
 */
static __always_inline void devless_pass(void *ctx, void *next, enum shared_program program,
					 const struct sk_buff *skb)
{
	const struct net_device *dev;
	const struct sock *sk;
	__u32 index = skb->skb_iif;

	if (!index) {
		dev = route_dev(skb);
		if (dev) {
			pass_to(ctx, next, program, device_slot(dev));
			return;
		}
		sk = ARGUMENT(skb)->sk;
		index = sk ? PLAIN(sk, __sk_common.skc_bound_dev_if) : 0;
	}
	if (index)
		pass_along(ctx, next, program,
			   (struct chosen){ .set = &host.index[index & (INDEX_PLACES - 1)] });
}

/* Passes on a packet that is freed. */
static __always_inline void freed_pass(void *ctx, void *next, enum shared_program program,
				       const struct sk_buff *skb, bool dropped)
{
	const struct net_device *dev;
	__u32 slot;

	if (!calls(program))
		return;
	dev = skb->dev;
	if (!dev_is_other(dev))
		return;
	slot = device_slot(dev);		/* first, as in pass_on() */
	if ((!slot && (!dropped || (dev && dev->ifindex))) || !shares(program))
		return;
	if (slot)
		pass_to(ctx, next, program, slot);
	else
		devless_pass(ctx, next, program, skb);
}

#endif
