/* SPDX-License-Identifier: GPL-2.0 */
/* The bytes of an event's packet, sent to user space behind the event. */
#ifndef NICPROBE_PROBES_PACKETS_BPF_H
#define NICPROBE_PROBES_PACKETS_BPF_H

#include "probes/packets.h"
#include "probes/places.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} ring SEC(".maps");

/* The variables of the kernel by which x86 finds the memory of a page; 0: another machine. */
const volatile __u64 vmemmap_base = 0;
const volatile __u64 page_offset_base = 0;

#define PIECES	4		/* pages of a packet that are read */
#define TAG	4

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct skb_shared_info___pieces {
	__u8 nr_frags;
};

struct sk_buff___tagged {
	__be16 vlan_proto;
};

#pragma clang attribute pop

/* struct bio_vec up to 6.6, then struct skb_frag, with the same layout. */
struct piece {
	__u64 page;		/* bit 0 set: memory of a device */
	__u32 len, offset;
};

/* Where a piece is in memory; NULL: not known. This is page_to_virt() of x86 since 4.20. */
static __always_inline const void *piece_memory(const struct piece *piece)
{
	__u64 pages = 0, memory = 0;

	if (!vmemmap_base || !page_offset_base || !piece->page || piece->page & 1 ||
	    !bpf_core_type_exists(struct page))
		return NULL;
	bpf_probe_read_kernel(&pages, sizeof(pages), (void *)vmemmap_base);
	bpf_probe_read_kernel(&memory, sizeof(memory), (void *)page_offset_base);
	return (void *)(memory + ((piece->page - pages) / bpf_core_type_size(struct page) << 12) +
			piece->offset);
}

/*
 * Reads up to `n` bytes at `from` behind the first `at`; how many there are then. At most snaplen
 * are asked for, at most snaplen are there already, and there is room for two of it.
 */
static __always_inline __u32 bytes_read(struct captured *c, __u32 at, const void *from, __u32 n)
{
	__u32 room;

	if (at >= query.snaplen)
		return at;
	room = query.snaplen - at;
	n = n < room ? n : room;
	barrier_var(at);
	barrier_var(n);		/* the verifier needs the bounds on these variables */
	if (at > query.snaplen || n > query.snaplen)
		return at;
	return bpf_probe_read_kernel(c->bytes + at, n, from) ? at : at + n;
}

static __always_inline __u32 pieces_read(struct captured *c, const struct sk_buff *skb, __u32 at,
					 __u32 in_pages)
{
	const struct skb_shared_info *shared =
		(void *)BPF_CORE_READ(skb, head) + BPF_CORE_READ(skb, end);
	const struct skb_shared_info___pieces *pieces = (void *)shared;
	int nr;

	nr = BPF_CORE_READ(pieces, nr_frags);
	for (int i = 0; i < PIECES && i < nr && in_pages; i++) {
		const void *list = __builtin_preserve_access_index(&shared->frags);
		struct piece piece = {};
		const void *memory;
		__u32 before = at;

		bpf_probe_read_kernel(&piece, sizeof(piece), list + i * sizeof(piece));
		memory = piece_memory(&piece);
		if (!memory || piece.len > in_pages)
			break;
		at = bytes_read(c, at, memory, piece.len);
		if (at - before != piece.len)
			break;
		in_pages -= piece.len;
	}
	return at;
}

/* Where its network header is: packets that arrive are seen before that is noted. */
static __always_inline const void *packet_l3(const struct sk_buff *skb, __u32 source)
{
	if (source == SOURCE_netif_receive_skb || source == SOURCE_driver_delivers ||
	    source == SOURCE_nf_local_in || source == SOURCE_cgroup_ingress)
		return BPF_CORE_READ(skb, data);
	return BPF_CORE_READ(skb, head) + BPF_CORE_READ(skb, network_header);
}

/* Where the header is with which packets of the file begin; NULL: this one has none. */
static __always_inline const void *packet_begins(const struct sk_buff *skb,
						 const struct probe_event *e)
{
	const void *l3 = packet_l3(skb, e->source);
	__u16 mac = BPF_CORE_READ(skb, mac_header), proto = BPF_CORE_READ(skb, protocol);
	const void *l2 = BPF_CORE_READ(skb, head) + mac;
	__s64 between = l3 - l2;

	if (!query.ethernet)
		return proto == bpf_htons(ETH_P_IP) || proto == bpf_htons(ETH_P_IPV6) ? l3 : NULL;
	return mac != 0xffff && (between == ETH_HLEN || between == ETH_HLEN + TAG) ? l2 : NULL;
}

/* The event and its packet. */
static __always_inline void packet_send(const struct probe_event *e)
{
	const struct sk_buff *skb = (void *)e->pkt_addr;
	const void *from = e->have & HAVE(PKT) ? packet_begins(skb, e) : NULL;
	__u32 len, in_pages, at, linear;
	struct captured *c;
	__s64 before;

	if (!from) {
		lose(LOST_LINK);
		return;
	}
	len = BPF_CORE_READ(skb, len);
	in_pages = BPF_CORE_READ(skb, data_len);
	before = (__s64)BPF_CORE_READ(skb, data) - (__s64)from;
	linear = len - in_pages + before;
	c = bpf_ringbuf_reserve(&ring, sizeof(*c) + 2 * query.snaplen, 0);
	if (!c) {
		lose(LOST_EVENT);
		return;
	}
	bpf_probe_read_kernel(&c->event, sizeof(c->event), e);
	c->len = len + before;
	c->vlan_tci = BPF_CORE_READ(skb, vlan_tci);
	c->vlan_proto = BPF_CORE_READ((const struct sk_buff___tagged *)skb, vlan_proto);
	at = bytes_read(c, 0, from, linear);
	if (at == linear)
		at = pieces_read(c, skb, at, in_pages);
	c->caplen = at;
	bpf_ringbuf_submit(c, 0);
}

#endif
