/* SPDX-License-Identifier: GPL-2.0 */
/* What is left to do for a packet being sent, and which of it the card cannot offload. */
#ifndef NICPROBE_FEATURE_BPF_H
#define NICPROBE_FEATURE_BPF_H

#include "bpf/common/skb.bpf.h"

/* Bits of dev->features, the same in 6.1, 6.12 and 6.18. */
#define FEATURES_SG	(1ull << 0)
#define FEATURES_IPV4	(1ull << 1)		/* checksums of TCP and UDP over IPv4… */
#define FEATURES_HW	(1ull << 3)		/* …of anything… */
#define FEATURES_IPV6	(1ull << 4)		/* …over IPv6 */
#define FEATURES_CSUM	(FEATURES_IPV4 | FEATURES_HW | FEATURES_IPV6)
#define FEATURES_GSO	16			/* NETIF_F_GSO_SHIFT: here gso_type begins */

#define CHECKSUM_PARTIAL 3

/*
 * Bits of gso_type that need no feature: DODGY asks for a check, PARTIAL says how to segment. From
 * 6.18 on bits 30 and 31 replace bit 3.
 */
#define GSO_NO_FEATURE	(1u << 1 | 1u << 12)
#define GSO_FIXED_ID	(1u << 3)

static __always_inline void done_in_software(struct packet *p, enum feature feature, enum why why)
{
	p->feature = feature;
	p->why = why;
}

/* Why all of these bits are off. */
static __always_inline enum why why_not(const struct net_device *dev, __u64 on,
					__u64 bits)
{
	__u64 can = dev->hw_features, asked = dev->wanted_features;

	if (!(can & bits))
		return WHY_CANNOT;
	if (!(asked & bits))
		return WHY_OFF;
	/* netdev_fix_features(): a feature that others depend on was switched off */
	if (!(on & FEATURES_SG) && can & ~asked & FEATURES_SG)
		return WHY_NO_SG;
	if (!(on & FEATURES_CSUM) && !(asked & FEATURES_CSUM) && can & FEATURES_CSUM)
		return WHY_NO_CHECKSUM;
	return WHY_CANNOT;
}

/* gso_features_check(): more than the card takes at once? */
static __always_inline bool too_much(const struct sk_buff *skb,
				     const struct net_device *dev, const struct packet *p)
{
	__u32 most = dev->gso_max_size;

	if (bpf_core_field_exists(dev->gso_ipv4_max_size) &&
	    skb->protocol != bpf_htons(ETH_P_IPV6))
		most = dev->gso_ipv4_max_size;
	return skb->len >= most || p->segs > dev->gso_max_segs;
}

/* As netif_skb_features() decides, except for the driver's ndo_features_check(). */
static __always_inline void segmented_by(const struct sk_buff *skb,
					 const struct net_device *dev, struct packet *p,
					 __u32 gso_type, __u64 on)
{
	__u32 wanted = gso_type & ((1u << NR_GSO_FEATURES) - 1) & ~GSO_NO_FEATURE;
	__u32 missing;

	if (gso_type >> 30)
		wanted |= GSO_FIXED_ID;
	missing = wanted & ~(__u32)(on >> FEATURES_GSO);
	if (missing) {
		missing &= -missing;
		done_in_software(p, log2_of(missing),
				 why_not(dev, on, (__u64)missing << FEATURES_GSO));
		return;
	}
	if (BPF_CORE_READ_BITFIELD(skb, encapsulation))
		missing = wanted & ~(__u32)(dev->hw_enc_features >> FEATURES_GSO);
	if (missing) {
		done_in_software(p, log2_of(missing & -missing), WHY_TUNNEL);
		return;
	}
	if (skb_vlan_len(skb))
		missing = wanted & ~(__u32)(dev->vlan_features >> FEATURES_GSO);
	if (missing)
		done_in_software(p, log2_of(missing & -missing), WHY_TAG);
	else if (too_much(skb, dev, p))
		done_in_software(p, FEATURE_SIZE, WHY_CANNOT);
}

/* If several things are done in software, report the first: the others mostly follow from it. */
static __always_inline void skb_software(const struct sk_buff *skb,
					 const struct net_device *dev, struct packet *p,
					 __u32 gso_type)
{
	__u64 on = dev->features, checksum = FEATURES_HW;
	__be16 proto = skb->protocol;

	if (gso_type)
		segmented_by(skb, dev, p, gso_type, on);
	if (p->why)
		return;
	/* behind a VLAN tag it may be either */
	if (proto != bpf_htons(ETH_P_IPV6))
		checksum |= FEATURES_IPV4;
	if (proto != bpf_htons(ETH_P_IP))
		checksum |= FEATURES_IPV6;
	if (p->work >> WORK_CHECKSUM & 1 && !(on & checksum))
		done_in_software(p, FEATURE_CHECKSUM, why_not(dev, on, checksum));
	else if (p->work >> WORK_GATHER & 1 && !(on & FEATURES_SG))
		done_in_software(p, FEATURE_SG, why_not(dev, on, FEATURES_SG));
}

static __always_inline void skb_work(const struct sk_buff *skb,
				     const struct net_device *dev, struct packet *p,
				     enum point point, __u32 gso_type)
{
	__u32 summed = BPF_CORE_READ_BITFIELD(skb, ip_summed);

	_Static_assert(CHECKSUM_PARTIAL == 3, "both bits are set");
	p->why = WHY_NOT;
	p->work = IS_SET(gso_type) << WORK_SEGMENT | (summed & summed >> 1) << WORK_CHECKSUM |
		  IS_SET(skb->data_len) << WORK_GATHER;
	if (point == TX_STACK && meter_on(METER_offload) && p->work)
		skb_software(skb, dev, p, gso_type);
}

#endif
