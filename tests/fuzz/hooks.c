/* SPDX-License-Identifier: GPL-2.0 */
/* The hooks at tracepoints as plain functions, called as bpf/events/events.bpf.c calls them. */
#include "bpf/hooks/driver_rx.bpf.h"
#include "bpf/hooks/stack_rx.bpf.h"
#include "bpf/hooks/xmit.bpf.h"
#include "hooks.h"

static void rx_nic(const struct sk_buff *skb, bool frags)
{
	struct frame f = {};

	if (!dev_is_ours(skb->dev))
		return;
	frame_look(&f, RX_NIC, frags, skb, skb->dev);
	delivered(&f, skb);
}

void rx_gro(const struct sk_buff *skb)
{
	rx_nic(skb, false);
}

void rx_frags(const struct sk_buff *skb)
{
	rx_nic(skb, true);
}

void rx_stack(const struct sk_buff *skb)
{
	struct frame f = {};

	if (!dev_is_ours(skb->dev))
		return;
	frame_look(&f, RX_STACK, false, skb, skb->dev);
	stack_received(&f, skb);
}

void tx_stack(const struct sk_buff *skb)
{
	if (dev_is_ours(skb->dev))
		xmit_queued(skb, skb->dev);
}

void tx_nic(const struct sk_buff *skb, int rc)
{
	if (dev_is_ours(skb->dev))
		xmit_started(skb, skb->dev);
	xmit_returned((__u64)skb, rc);
}
