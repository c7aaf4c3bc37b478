/* SPDX-License-Identifier: GPL-2.0 */
/* Whether a VLAN tag is kept outside the packet's data, on every kernel. */
#ifndef NICPROBE_VLAN_BPF_H
#define NICPROBE_VLAN_BPF_H

#include "lib/core/kernel.bpf.h"

static __always_inline bool skb_has_tag(const struct sk_buff *skb)
{
	const struct sk_buff___6_1 *old = (void *)skb;

	if (bpf_core_field_exists(old->vlan_present))
		return BPF_CORE_READ_BITFIELD(old, vlan_present);
	return skb->vlan_all;
}

#endif
