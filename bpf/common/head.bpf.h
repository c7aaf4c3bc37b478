/* SPDX-License-Identifier: GPL-2.0 */
/* The network header of an skb: in its linear part, or in a page, and how to read it there. */
#ifndef NICPROBE_HEAD_BPF_H
#define NICPROBE_HEAD_BPF_H

#include "bpf/common/skb.bpf.h"

/* Linux 6.11 for typed tracepoints: config.dynptr says whether it is there. */
extern int bpf_dynptr_from_skb(struct __sk_buff *, __u64, struct bpf_dynptr *) __ksym __weak;

/* struct bio_vec up to 6.6, struct skb_frag from then on: laid out alike. */
struct frag {
	__u64 page;		/* a page; bit 0 set: memory of a device */
	__u32 len, offset;
};

/*
 * Where the first page of an skb begins in memory, if `size` bytes of it are
 * there; NULL: not, or this machine lays its memory out in another way. On x86
 * with 4 KiB pages page_to_virt() is this, since 4.20.
 */
static __always_inline const void *first_frag(const struct sk_buff *skb, __u32 size)
{
	const struct skb_shared_info *shared = (void *)skb->head + skb->end;
	__u64 pages = 0, memory = 0, nr;
	struct frag frag = {};

	if (!config.vmemmap_base || !config.page_offset_base)
		return NULL;
	bpf_probe_read_kernel(&frag, sizeof(frag), __builtin_preserve_access_index(&shared->frags));
	bpf_probe_read_kernel(&pages, sizeof(pages), (void *)config.vmemmap_base);
	bpf_probe_read_kernel(&memory, sizeof(memory), (void *)config.page_offset_base);
	if (!frag.page || frag.page & 1 || frag.len < size || !bpf_core_type_exists(struct page))
		return NULL;
	nr = (frag.page - pages) / bpf_core_type_size(struct page);
	return (void *)(memory + (nr << 12) + frag.offset);
}

/*
 * napi_gro_frags: the packet may lie in a page, all of it; GRO has its address
 * in napi_gro_cb.frag0, moved past the Ethernet header before the tracepoint.
 */
static __always_inline const void *network_header(bool frags, const struct sk_buff *skb,
						 int *linear)
{
	const struct napi_gro_cb *gro = (void *)&skb->cb;

	*linear = skb->len - skb->data_len;
	if (*linear || !frags)
		return skb->data;
	*linear = skb->len;
	return BPF_CORE_READ(gro, frag0);
}

/* What of a packet must be there for packet_parse(): its tags, then 20 or 40 bytes; 0: no IP. */
static __always_inline int head_wanted(const void *l3, int linear, __be16 proto)
{
	int tags = 0;

	for (int i = 0; i < 2; i++) {
		if (proto != bpf_htons(ETH_P_8021Q) && proto != bpf_htons(ETH_P_8021AD))
			break;
		if (linear < tags + VLAN_TAG)
			return HEAD_SIZE;
		bpf_probe_read_kernel(&proto, sizeof(proto), l3 + tags + 2);
		tags += VLAN_TAG;
	}
	return proto == bpf_htons(ETH_P_IP) ? tags + 20 :
	       proto == bpf_htons(ETH_P_IPV6) ? tags + 40 : 0;
}

/*
 * Reads n bytes, `at` bytes into the packet: at `l3` if they are linear, else
 * where the kernel lets us. False: it does not.
 */
static __always_inline bool head_read(const struct sk_buff *skb, void *head, __u32 n,
				      const void *l3, bool linear, bool any, __u32 at)
{
	struct bpf_dynptr data;

	if (linear) {
		bpf_probe_read_kernel(head, n, l3);
		return true;
	}
	if (config.dynptr)
		return !bpf_dynptr_from_skb((void *)skb, 0, &data) &&
		       !bpf_dynptr_read(head, n, &data, at, 0);
	l3 = any ? NULL : first_frag(skb, n);
	if (l3)
		bpf_probe_read_kernel(head, n, l3);
	return l3;
}

/*
 * Reads the network header, `at` bytes into the packet. At `l3` `linear` bytes
 * of it are there to be read; the rest may be in pages: of what a raw socket
 * sends from 4 KiB on, and virtio_net receives from 128 bytes on (6.1). Where
 * those cannot be read it is ECN_UNREAD: lost to ecn, and said to be.
 */
static __always_inline void skb_parse(const struct sk_buff *skb, struct packet *p,
				      const void *l3, int linear, __u32 at, __be16 proto)
{
	int all = skb->len - at, want = head_wanted(l3, linear, proto);
	__u8 head[HEAD_SIZE] = {};
	__u32 n;

	p->ecn = ECN_NOT_IP;
	if (!want || all < 20)
		return;
	n = linear < want && linear < all ? all : linear;
	if (n > HEAD_SIZE)
		n = HEAD_SIZE;
	/* clang must not take it back: the verifier looks at this variable */
	barrier_var(n);
	if (n > HEAD_SIZE)
		return;
	p->ecn = ECN_UNREAD;
	if (head_read(skb, head, n, l3, linear >= want || linear >= all, linear, at))
		packet_parse(p, head, head + n, proto);
}

/* Only the headers may be linear, as drivers with pages have it: they are enough. */
static __always_inline bool look_linear(struct flow_head *head, const void *l3, __u32 linear)
{
	if (!linear)
		return false;
	/* else clang asks both at once, of a difference: the verifier learns no bound from that */
	barrier_var(linear);
	if (linear > sizeof(head->l3))
		return false;
	bpf_probe_read_kernel(head->l3, linear, l3);
	return flow_there(head, linear);
}

/* One packet in so many: its flow. What of its head cannot be read is lost. */
static __always_inline void skb_look(const struct sk_buff *skb, const struct packet *p,
				     const void *l3, int linear, __be16 proto)
{
	struct flow_head head = { .type = proto };
	__u32 n = skb->len;

	if (n > sizeof(head.l3))
		n = sizeof(head.l3);
	barrier_var(n);
	if ((n <= sizeof(head.l3) &&
	     head_read(skb, head.l3, n, l3, linear >= (int)n, linear, 0)) ||
	    look_linear(&head, l3, linear))
		flow_take(&head, p->row, p->segs, packet_bytes(p));
	else
		flow_lost(p->segs);
}

#endif
