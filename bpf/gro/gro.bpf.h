/* SPDX-License-Identifier: GPL-2.0 */
/* What GRO does with a driver's frames: results, why frames were not merged, resulting buffers. */
#ifndef NICPROBE_GRO_BPF_H
#define NICPROBE_GRO_BPF_H

#include "bpf/common/head.bpf.h"
#include "bpf/common/feature.bpf.h"
#include "bpf/common/host.bpf.h"
#include "bpf/gro/gro_buffer.bpf.h"
#include <linux/in.h>

#define FEATURES_GRO	(1ull << 14)	/* NETIF_F_GRO: 6.1, 6.12, 6.18 */
#define IPV4_FRAGMENT	bpf_htons(0x3fff)	/* MF, or an offset */
#define IPPROTO_FRAGMENT 44
#define TCP_ENDS	0x2f		/* FIN, SYN, RST, PSH, URG: GRO holds nothing after them */
#define TCP_ALIKE	0x76		/* flags that must be equal: all but CWR, PSH, FIN */
#define TCP_CWR		0x80
#define HEADERS		72		/* IPv6, TCP, timestamps */

/* Polls of a CPU that are counted after a frame of ours; the others cost one read. */
#define GRO_ARMED 64

/* The last frame of a flow on this CPU, by a hash of the flow. */
#define FLOW_BITS 6
struct gro_flow {
	__u32 flow, poll;
	__u32 next;		/* the sequence number after it; UDP: its length */
	__u32 alike;		/* hash of what must be equal in the next */
	__u32 tos;
};
MAP(PERCPU_ARRAY, gro_flow, __u32, struct gro_flow, 1 << FLOW_BITS);

static __always_inline void alone(struct host_cpu *n, enum gro_alone held, enum gro_alone normal)
{
	n->held = held;
	n->normal = normal;
}

/* Makes this the last frame of its flow; returns how it differs from the one before. */
static __always_inline enum gro_alone flow_next(const struct gro_flow *f, __u32 seq)
{
	struct gro_flow *last = row_at(&gro_flow, f->flow >> (32 - FLOW_BITS));
	enum gro_alone how = GRO_FIRST;

	if (!last)
		return GRO_FIRST;
	if (last->flow == f->flow && last->poll == f->poll) {
		if ((last->tos ^ f->tos) & 3)
			how = GRO_ECN;
		else if (last->next != seq)
			how = GRO_SEQUENCE;
		else if (last->alike != f->alike || last->tos != f->tos)
			how = GRO_HEADER;
		else
			how = GRO_UDP_FLOW;	/* no difference; for TCP the caller replaces it */
	}
	*last = *f;
	return how;
}

static __always_inline __u32 word(const __u8 *b)
{
	return *(const __u32 *)b;
}

static __always_inline void look_tcp(struct host_cpu *n, struct gro_flow *f, const __u8 *tcp,
				     __u32 len)
{
	__u32 header = (tcp[12] >> 4) * 4, seq = bpf_ntohl(word(tcp + 4));
	__u32 window = tcp[14] << 8 | tcp[15];
	enum gro_alone how;

	if (len <= header) {
		alone(n, GRO_ACK, GRO_ACK);
		return;
	}
	f->next = seq + len - header;
	f->alike = word(tcp + 8) * 31 + (window << 16 | tcp[12] << 8 | (tcp[13] & TCP_ALIKE));
	if (header >= 32)
		f->alike = ((f->alike * 31 + word(tcp + 20)) * 31 + word(tcp + 24)) * 31 +
			   word(tcp + 28);
	how = flow_next(f, seq);
	if (how == GRO_UDP_FLOW)
		how = tcp[13] & TCP_CWR ? GRO_HEADER : GRO_FIRST;
	alone(n, how, tcp[13] & TCP_ENDS ? GRO_FLAGS : GRO_OTHER);
}

static __always_inline void look_udp(struct host_cpu *n, struct gro_flow *f, __u32 len)
{
	enum gro_alone how;

	f->next = len;
	f->alike = 0;
	how = flow_next(f, len);
	alone(n, GRO_FIRST, how == GRO_UDP_FLOW ? GRO_UDP_FLOW : GRO_UDP);
}

/* `l4` has `len` bytes, including the payload; `ip` is a hash of the addresses. */
static __always_inline void look_l4(struct host_cpu *n, __u32 ip, __u32 tos, __u8 proto,
				    const __u8 *l4, __u32 len)
{
	struct gro_flow f = {
		.flow = (ip * 31 + word(l4)) * 2654435769u, .poll = n->gro_poll, .tos = tos,
	};

	if (proto == IPPROTO_TCP)
		look_tcp(n, &f, l4, len);
	else if (proto == IPPROTO_UDP)
		look_udp(n, &f, len);
	else
		alone(n, GRO_PROTOCOL, GRO_PROTOCOL);
}

static __always_inline void look_ipv4(struct host_cpu *n, const __u8 *ip)
{
	__u32 len = ip[2] << 8 | ip[3];

	if (ip[0] != 0x45)		/* GRO takes no options */
		alone(n, GRO_OTHER, GRO_OTHER);
	else if (*(__be16 *)(ip + 6) & IPV4_FRAGMENT)
		alone(n, GRO_FRAGMENT, GRO_FRAGMENT);
	else
		look_l4(n, word(ip + 12) * 31 + word(ip + 16), ip[1], ip[9], ip + 20,
			len > 20 ? len - 20 : 0);
}

static __always_inline void look_ipv6(struct host_cpu *n, const __u8 *ip)
{
	__u32 addresses = 0;

	for (int i = 8; i < 40; i += 4)
		addresses = addresses * 31 + word(ip + i);
	if (ip[0] >> 4 != 6)
		alone(n, GRO_OTHER, GRO_OTHER);
	else if (ip[6] == IPPROTO_FRAGMENT)
		alone(n, GRO_FRAGMENT, GRO_FRAGMENT);
	else
		look_l4(n, addresses, bpf_ntohl(word(ip)) >> 20 & 0xff, ip[6], ip + 40,
			ip[4] << 8 | ip[5]);
}

/*
 * Copies `size` bytes, at most HEADERS. If addresses can be cast, by loads, and always HEADERS:
 * what lies behind a packet is looked at only if its own headers claim to be there.
 */
static __always_inline bool copy_plain(__u64 *to, __u32 size, const void *from)
{
	const struct timespec64___any *word;

	if (!CAN_CAST)
		return !bpf_probe_read_kernel(to, size, from);
#pragma unroll
	for (int i = 0; i < HEADERS / 8; i++) {
		word = from + 8 * i;
		to[i] = PLAIN(word, tv_sec);
	}
	barrier();		/* they are read as words of other sizes */
	return true;
}

/* Copies at least `least` bytes of headers at offset `at` of a packet, wherever they are. */
static __always_inline bool copy_headers(const struct sk_buff *skb, const void *l3,
					 int linear, __u32 at, __u32 least, __u64 *to)
{
	__u32 size = skb->len - at;
	struct bpf_dynptr data;

	/* the linear part may lack TCP options */
	if (linear >= (int)(at + least) && size > linear - at)
		size = linear - at;
	if (size > HEADERS)
		size = HEADERS;
	barrier_var(size);
	if (size > HEADERS)
		return false;
	if (linear >= (int)(at + size))
		return copy_plain(to, size, l3 + at);
	if (is_set(dynptr))
		return !bpf_dynptr_from_skb((void *)skb, 0, &data) &&
		       !bpf_dynptr_read(to, size, &data, at, 0);
	l3 = linear ? NULL : first_frag(skb, at + size);
	return l3 && !bpf_probe_read_kernel(to, size, l3 + at);
}

static __always_inline void gro_look(const struct sk_buff *skb, const struct net_device *dev,
				 const void *l3, int linear, struct host_cpu *n)
{
	__be16 proto = skb->protocol;
	__u64 words[HEADERS / 8] = {};
	const __u8 *headers = (void *)words;
	__u32 at = 0, least;

	if (!(dev->features & FEATURES_GRO)) {
		alone(n, GRO_OFF, GRO_OFF);
		return;
	}
	if (dev->xdp_prog) {
		alone(n, GRO_XDP, GRO_XDP);
		return;
	}
	if (!is_set(polls)) {	/* it has a NAPI now: which frames came in one poll is not known */
		alone(n, GRO_OTHER, GRO_OTHER);
		return;
	}
	for (int tags = 0; tags < 2; tags++) {
		if (proto != bpf_htons(ETH_P_8021Q) && proto != bpf_htons(ETH_P_8021AD))
			break;
		bpf_probe_read_kernel(&proto, sizeof(proto), l3 + at + 2);
		at += VLAN_TAG;
	}
	least = (proto == bpf_htons(ETH_P_IP) ? 20 : 40) + UDP_HEADER;
	if (proto != bpf_htons(ETH_P_IP) && proto != bpf_htons(ETH_P_IPV6))
		alone(n, GRO_NOT_IP, GRO_NOT_IP);
	else if (!copy_headers(skb, l3, linear, at, least, words))
		alone(n, GRO_UNREAD, GRO_UNREAD);
	else if (proto == bpf_htons(ETH_P_IP))
		look_ipv4(n, headers);
	else
		look_ipv6(n, headers);
}

/* Counts a frame that the card has merged. */
static __always_inline void card_add(const struct frame *f, struct gro *row)
{
	row->card[0]++;
	row->card[1] += f->packet.segs;
}

static __always_inline int gro_enters(const struct frame *f, const struct sk_buff *skb,
				      const struct net_device *dev)
{
	__u32 nr = f->packet.row - row_of(RX_NIC, 0);
	struct host_cpu *n = host_here();
	struct gro *row = own_row(gro, nr);

	if (!n || !row)
		return 0;
	if (f->merged)
		card_add(f, row);
	if (!n->gro_armed)
		__sync_fetch_and_add(&host.gro_armed, 1);
	n->gro_armed = GRO_ARMED;
	gro_look(skb, dev, f->l3, f->linear, n);
	if (f->merged && n->normal == GRO_OTHER)
		n->normal = GRO_CARD;
	n->gro_slot = TOLD(slot);
	n->gro_row = nr + 1;
	return 0;
}

#define IS(ret, result) ((ret) == (int)bpf_core_enum_value(enum gro_result, result))

static __always_inline int gro_left(int ret)
{
	struct host_cpu *n;
	struct gro *row;

	if (!host.gro_armed)
		return 0;
	n = host_here();
	if (!n || !n->gro_row || n->gro_slot != TOLD(slot))
		return 0;
	row = own_row(gro, n->gro_row - 1);
	n->gro_row = 0;
	if (!row)
		return 0;
	if (IS(ret, GRO_MERGED))
		row->frames[GRO_FRAME_MERGED]++;
	else if (IS(ret, GRO_MERGED_FREE))
		row->frames[GRO_FRAME_MERGED_FREE]++;
	else if (IS(ret, GRO_CONSUMED))
		row->frames[GRO_FRAME_CONSUMED]++;
	else if (IS(ret, GRO_HELD) && n->held < NR_GRO_ALONE)
		row->frames[GRO_FRAME_HELD]++, row->alone[n->held]++;
	else if (n->normal < NR_GRO_ALONE)
		row->frames[GRO_FRAME_NORMAL]++, row->alone[n->normal]++;
	return 0;
}

/* The driver delivers a frame of queue `nr` without GRO. `f`: NULL if the card did not merge it. */
static __always_inline int gro_passes(__u64 nr, const struct frame *f)
{
	struct gro *row = own_row(gro, nr);

	if (!row)
		return 0;
	row->frames[GRO_FRAME_PAST]++;
	if (f && f->merged)
		card_add(f, row);
	return 0;
}

/* GRO mostly flushes here. Any NAPI will do: two polls on a CPU do not interleave. */
static __always_inline int gro_polled(void)
{
	struct host_cpu *n;

	if (!host.gro_armed)
		return 0;
	n = host_here();
	if (!n || !n->gro_armed)
		return 0;
	n->gro_poll++;
	if (!--n->gro_armed)
		__sync_fetch_and_add(&host.gro_armed, -1);
	return 0;
}

#undef IS

#endif
