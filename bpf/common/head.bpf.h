/* SPDX-License-Identifier: GPL-2.0 */
/* Read the network header of an skb, in its linear part or in a page. */
#ifndef NICPROBE_HEAD_BPF_H
#define NICPROBE_HEAD_BPF_H

#include "bpf/common/skb.bpf.h"

/* For typed tracepoints since Linux 6.11: config.dynptr says whether it is available. */
#ifdef TOLD_CALLS
static int (*const bpf_dynptr_from_skb)(struct __sk_buff *, __u64, struct bpf_dynptr *) =
	(void *)DYNPTR_CALL;
#else
extern int bpf_dynptr_from_skb(struct __sk_buff *, __u64, struct bpf_dynptr *) __ksym __weak;
#endif

/* struct bio_vec up to 6.6, then struct skb_frag, with the same layout. */
struct frag {
	__u64 page;		/* a page; bit 0 set: memory of a device */
	__u32 len, offset;
};

/*
 * Address of the first fragment of an skb, if it has `size` bytes; NULL: it does not, or this
 * machine has another memory layout. This is page_to_virt() of x86 with 4 KiB pages, since 4.20.
 */
static __always_inline const void *first_frag(const struct sk_buff *skb, __u32 size)
{
	const struct skb_shared_info *shared = shared_of(skb);
	__u64 pages = 0, memory = 0, nr;
	struct frag frag = {};

	if (!TOLD(vmemmap_base) || !TOLD(page_offset_base))
		return NULL;
	bpf_probe_read_kernel(&frag, sizeof(frag), __builtin_preserve_access_index(&shared->frags));
	bpf_probe_read_kernel(&pages, sizeof(pages), (void *)TOLD(vmemmap_base));
	bpf_probe_read_kernel(&memory, sizeof(memory), (void *)TOLD(page_offset_base));
	if (!frag.page || frag.page & 1 || frag.len < size || !bpf_core_type_exists(struct page))
		return NULL;
	nr = (frag.page - pages) / bpf_core_type_size(struct page);
	return (void *)(memory + (nr << 12) + frag.offset);
}

/*
 * napi_gro_frags: the whole packet may be in a page. GRO keeps its address in napi_gro_cb.frag0,
 * which it moves past the Ethernet header before the tracepoint.
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

/* A received frame or buffer: what all that count it need, found out once. */
struct frame {
	struct packet packet;
	const void *l3;		/* its network header… */
	int linear;		/* …of which so many bytes can be read there */
	__u32 merged;		/* not 0: it was when the driver delivered it */
};

/* Forgets what was found out, or the verifier follows all that counts the frame for each case. */
static __always_inline void frame_look(struct frame *f, enum point point, bool frags,
				       const struct sk_buff *skb, const struct net_device *dev)
{
	struct packet *p = &f->packet;
	__u32 len = skb->len;

	p->point = point;
	p->row = row_of(point, skb_rx_queue(skb, dev));
	p->len = TOLD(l2) + len;
	p->segs = 1;
	p->ecn = ECN_NOT_IP;
	f->l3 = network_header(frags, skb, &f->linear);
	f->merged = skb_segments(skb, p, false, f->l3);
	if (point == RX_STACK)
		p->len += skb_vlan_len(skb);
	FORGET(p->row, len);
	FORGET(p->segs, len);
	FORGET(p->seg_len, len);
	FORGET(p->last_len, len);
	FORGET(f->merged, len);
}

/* Bytes that packet_parse() needs: VLAN tags, then 20 or 40; 0: not IP. */
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
 * Reads n bytes at offset `at` of the packet: from `l3` if they are linear, else by whatever means
 * this kernel offers. False: there is none.
 */
static __always_inline bool head_read(const struct sk_buff *skb, void *head, __u32 n,
				      const void *l3, bool linear, bool any, __u32 at)
{
	struct bpf_dynptr data;

	if (linear) {
		bpf_probe_read_kernel(head, n, l3);
		return true;
	}
	if (is_set(dynptr))
		return !bpf_dynptr_from_skb((void *)skb, 0, &data) &&
		       !bpf_dynptr_read(head, n, &data, at, 0);
	l3 = any ? NULL : first_frag(skb, n);
	if (l3)
		bpf_probe_read_kernel(head, n, l3);
	return l3;
}

/* The first two bytes of a network header: version, IHL, and the class of traffic. */
struct ip_begin {
	__u8 first, second;
};

static __always_inline struct ip_begin ip_begin(const void *l3)
{
	const struct iphdr___any *ip = l3;
	struct ip_begin b = {};
	const __u8 *bytes;

	if (CAN_CAST) {
		bytes = (void *)CAST(ip);
		b.first = bytes[0];
		b.second = bytes[1];
	} else {
		bpf_probe_read_kernel(&b, sizeof(b), l3);
	}
	return b;
}

/* As packet_parse(), for a header that can be read at `l3`. */
static __always_inline void ip_parse(struct packet *p, const void *l3, bool ipv6)
{
	struct ip_begin b = ip_begin(l3);

	p->ecn = ip_codepoint(b.first, b.second, ipv6);
	if (p->ecn != ECN_CE)
		return;
	p->ipv6 = ipv6;
	__builtin_memset(p->src, 0, sizeof(p->src));
	if (ipv6)
		bpf_probe_read_kernel(p->src, 16, l3 + 8);
	else
		bpf_probe_read_kernel(p->src, 4, l3 + 12);
}

/* The same for a *p of which clang keeps track: it would not, were a part of it given away. */
static __always_inline void ip_parse_apart(struct packet *p, const void *l3, bool ipv6)
{
	struct ip_begin b = ip_begin(l3);
	__u64 src[2] = {};

	p->ecn = ip_codepoint(b.first, b.second, ipv6);
	if (p->ecn != ECN_CE)
		return;
	p->ipv6 = ipv6;
	if (ipv6)
		bpf_probe_read_kernel(src, 16, l3 + 8);
	else
		bpf_probe_read_kernel(src, 4, l3 + 12);
	__builtin_memcpy(p->src, src, sizeof(src));
}

/*
 * Parses the network header at offset `at` of the packet. `linear` bytes of it can be read at
 * `l3`; the rest may be in pages: with raw sockets that send 4 KiB or more, and virtio_net that
 * receives more than 128 bytes (6.1). If those cannot be read it is ECN_UNREAD, which the meter
 * ecn reports as lost.
 */
static __always_inline void skb_parse(const struct sk_buff *skb, struct packet *p,
				      const void *l3, int linear, __u32 at, __be16 proto,
				      bool apart)
{
	int all = skb->len - at, want = head_wanted(l3, linear, proto);
	__u8 head[HEAD_SIZE] HEAD_ALIGNED = {};
	__u32 n;

	p->ecn = ECN_NOT_IP;
	if (!want || all < 20)
		return;
	if (linear >= want && !is_vlan(proto)) {
		if (apart)
			ip_parse_apart(p, l3, proto == bpf_htons(ETH_P_IPV6));
		else
			ip_parse(p, l3, proto == bpf_htons(ETH_P_IPV6));
		return;
	}
	n = linear < want && linear < all ? all : linear;
	if (n > HEAD_SIZE)
		n = HEAD_SIZE;
	/* keep clang from undoing the bound: the verifier needs it on this variable */
	barrier_var(n);
	if (n > HEAD_SIZE)
		return;
	p->ecn = ECN_UNREAD;
	if (head_read(skb, head, n, l3, linear >= want || linear >= all, linear, at))
		packet_parse(p, head, head + n, proto);
}

/* Drivers that use pages may leave only the headers linear, which is enough. */
static __always_inline bool look_linear(struct flow_head *head, const void *l3, __u32 linear)
{
	if (!linear)
		return false;
	/* else clang merges both checks, and the verifier learns no bound from the result */
	barrier_var(linear);
	if (linear > sizeof(head->l3))
		return false;
	bpf_probe_read_kernel(head->l3, linear, l3);
	return flow_there(head, linear);
}

/* Take the flow of a sampled packet; count it as lost if its headers cannot be read. */
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
