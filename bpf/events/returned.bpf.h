/* SPDX-License-Identifier: GPL-2.0 */
/* Packets that the stack had before: they come where drivers deliver theirs, and are not theirs. */
#ifndef NICPROBE_RETURNED_BPF_H
#define NICPROBE_RETURNED_BPF_H

#include "bpf/common/skb.bpf.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct rtnl_link_ops___kind {
	const char *kind;
};
struct net_device___linked {
	const struct rtnl_link_ops___kind *rtnl_link_ops;
};

#pragma clang attribute pop

/* A driver delivers a packet, to GRO or past it. */
enum delivery { TO_GRO, TO_GRO_FRAGS, PAST_GRO };

static __always_inline bool from_ifb(const struct sk_buff *skb)	/* tc skips those, too */
{
	return skb->skb_iif && bpf_core_field_exists(skb->tc_skip_classify) &&
	       BPF_CORE_READ_BITFIELD(skb, tc_skip_classify);
}

/*
 * The stack had it: a copy of a broadcast that this host sends (dev_loopback_xmit()), or a received
 * packet that comes from an ifb, or decrypted from IPsec. But a broadcast that comes to a macvlan
 * has the number of the card below it, which in another namespace may be the same.
 */
static __always_inline bool had_before(const struct sk_buff *skb, enum delivery how)
{
	int iif = skb->skb_iif, type = BPF_CORE_READ_BITFIELD(skb, pkt_type);

	if (how == PAST_GRO && type == LOOPBACK)
		return true;
	return iif && ((iif == (int)TOLD(ifindex) && type == HOST) || from_ifb(skb));
}

/* What is sent there comes back: it is only shaped. */
static __always_inline bool to_ifb(const struct net_device *dev)
{
	const struct net_device___linked *d = (void *)dev;
	char kind[4] = {};

	bpf_probe_read_kernel(kind, sizeof(kind), BPF_CORE_READ(d, rtnl_link_ops, kind));
	return kind[0] == 'i' && kind[1] == 'f' && kind[2] == 'b' && !kind[3];
}

#endif
