/* SPDX-License-Identifier: GPL-2.0 */
/* Fuzzes every hook and packet meter, built as plain C, against the oracle: maps must be equal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bpf/common/skb.bpf.h"
#include "compare.h"
#include "hooks.h"
#include "input.h"
#include "kernel.h"
#include "oracle.h"

#define FLOW_L3 72	/* bytes that form a flow key: two tags, the longest IPv4 header, ports */

/* run.sh builds the programs unchanged. -fcommon merges maps of the same name, as pins do. */
int nicprobe_rx(struct xdp_md *ctx);
int nicprobe_tc(struct __sk_buff *skb);

static struct config *settings;		/* writable alias of the programs' `config` */

/* A copy at the end of an allocation. */
static void *exactly(const void *from, size_t size)
{
	return memcpy(malloc(size ?: 1), from, size);
}

static void run_xdp(const struct input *in, const __u8 *frame, size_t size, struct seen *s)
{
	void *copy = exactly(frame, size);
	struct xdp_md ctx = { .data = (__u64)copy, .data_end = (__u64)copy + size,
			      .rx_queue_index = in->queue };

	s->len = size + in->paged;
	s->flow_type = (size > 12 ? frame[12] << 8 : 0) | (size > 13 ? frame[13] : 0);
	if (in->flags & GENERIC && !(in->flags & RECORDED))
		s->queue = ~0u;
	kernel_packet(copy, size, s->len);
	/* the dispatcher and the packet depend on its verdict */
	if (nicprobe_rx(&ctx) != XDP_PASS)
		die("XDP verdict");
	free(copy);
}

/* The whole packet, linear or not: the frame, then zeros. */
static __u8 *whole_of(const struct input *in, const __u8 *data, size_t size)
{
	return memcpy(calloc(1, size + in->paged + 1), data, size);
}

static void run_tc(const struct input *in, const __u8 *data, size_t size, struct seen *s)
{
	size_t linear = in->linear < size ? in->linear : size;
	void *copy = exactly(data, linear);
	bool tag = in->flags & TAG_BESIDE;
	struct __sk_buff skb = {
		.data = (__u64)copy, .data_end = (__u64)copy + linear,
		.len = size + in->paged, .vlan_present = tag,
		.queue_mapping = in->queue + !!(in->flags & RECORDED),
		.gso_size = in->gso_size, .gso_segs = in->gso_segs,
		.protocol = __builtin_bswap16(s->type),
	};

	s->len = skb.len + tag * VLAN_TAG;
	s->headers = settings->l2 + tag * VLAN_TAG +
		     oracle_headers(s->l3, s->n, s->type, oracle_is_tcp(s->l3, s->n, s->type), 0,
				    &s->jumbo);
	if (nicprobe_tc(&skb) != -1)
		die("tc verdict");
	free(copy);
}

static void call(enum way way, const struct sk_buff *skb, int rc)
{
	switch (way) {
	case DRIVER:	rx_gro(skb); break;
	case FRAGS:		rx_frags(skb); break;
	case STACK:		rx_stack(skb); break;
	case QUEUE:		tx_stack(skb); break;
	default:		tx_nic(skb, rc);
	}
}

/* Bytes before the payload, as the hooks compute them from the linear part; 0 if missing. */
static __u64 headers_of(const struct input *in, struct seen *s, size_t linear, __u64 len)
{
	bool rx = s->point < TX_STACK;
	size_t l2 = settings->l2, n = rx ? linear : linear - l2, doff = in->transport + 12;
	__u64 beside = 0;

	if (in->flags & TAG_BESIDE && (s->point == RX_STACK || s->point == TX_STACK))
		beside = VLAN_TAG;	/* every segment has it */
	if (rx && !(in->flags & ENCAPSULATED && in->way != FRAGS))
		return beside + l2 +
		       oracle_headers(s->l3, n, s->type, in->flags & TCP, len, &s->jumbo);
	s->jumbo = oracle_jumbo(s->l3, n, len);
	if (in->flags & TCP)
		return beside + l2 + in->transport + (doff < n ? s->l3[doff] / 16 * 4 : 0);
	return beside + l2 + in->transport + UDP_HEADER;
}

/* Can the programs read everything that the oracle reads? */
static bool readable(const struct input *in, const struct seen *s, size_t linear)
{
	size_t wanted = 0;
	__u16 type = s->type;
	bool hidden = false;

	for (int tags = 0; tags < 2 && (type == ETH_P_8021Q || type == ETH_P_8021AD); tags++) {
		hidden |= linear < wanted + VLAN_TAG;
		if (!hidden)
			type = s->l3[wanted + 2] << 8 | s->l3[wanted + 3];
		wanted += VLAN_TAG;
	}
	wanted = hidden ? HEAD_SIZE : type == ETH_P_IP ? wanted + 20 :
		 type == ETH_P_IPV6 ? wanted + 40 : 0;
	if (in->way == FRAGS || s->n < 20)
		return true;
	return linear >= wanted || linear >= s->n || settings->dynptr;
}

/* 20 bits of segmentation; scatter-gather and checksums. */
static __u64 features_of(__u32 bits)
{
	return (__u64)(bits & 0xfffff) << 16 | (bits >> 20 & 0x1f);
}

static __u32 gso_type_of(const struct input *in)
{
	__u32 protocol = !(in->flags & TCP) ? 1 << 17 : in->gso_type & 1 ? 1 << 4 : 1;

	return protocol | (in->gso_type & ~GSO_TCP);
}

/* The work to do for a sent packet, and the part that the device does. */
static void offloads(const struct input *in, struct sk_buff *skb, struct net_device *dev,
		     struct seen *s)
{
	skb->ip_summed = in->rc >> 5;
	dev->features = features_of(in->features);
	dev->hw_features = features_of(in->can);
	dev->wanted_features = features_of(in->asked);
	dev->hw_enc_features = features_of(in->inside);
	dev->vlan_features = features_of(in->inside >> 3);
	dev->gso_max_size = in->most_bytes;
	dev->gso_max_segs = in->most_segs;
	s->gso_type = gso_type_of(in);
	s->partial = skb->ip_summed == 3;
	s->pieces = skb->data_len;
	s->tunnel = in->flags & ENCAPSULATED;
	s->tag = in->flags & TAG_BESIDE;
	s->features = dev->features;
	s->can = dev->hw_features;
	s->asked = dev->wanted_features;
	s->in_tunnel = dev->hw_enc_features;
	s->with_tag = dev->vlan_features;
	s->most_bytes = dev->gso_max_size;
	s->most_segs = dev->gso_max_segs;
	s->bytes = skb->len;
	s->least = settings->tx_least;
	s->linear = settings->tx_linear ? skb->len - skb->data_len : 0;
}

/*
 * An skb as tracepoints see it: data at the network header on receive, otherwise at the link
 * header.
 */
static void run_skb(const struct input *in, const __u8 *data, size_t size, struct seen *s)
{
	bool page = in->way == FRAGS, rx = s->point < TX_STACK;
	size_t linear = page ? 0 : in->linear < size ? in->linear : size;
	struct net net = { .ns.inum = settings->netns };
	struct net_device dev = { .ifindex = settings->ifindex, .nd_net.net = &net };
	/* no header offset exceeds this: IPv6 extensions take at most 2048 bytes */
	struct { __u8 pad[4096]; struct skb_shared_info shared; } tail = {
		.shared = { in->gso_size, in->gso_segs, gso_type_of(in), {} } };
	size_t head_size = (linear + 7) / 8 * 8;
	__u8 *head = calloc(1, head_size + sizeof(tail)), *frag = exactly(data, size);
	__u16 transport = in->transport + (rx ? 0 : settings->l2);
	struct sk_buff skb = {
		.dev = &dev, .head = head, .data = head, .end = head_size + sizeof(tail.pad),
		.len = size + (page ? 0 : in->paged),
		.queue_mapping = in->queue + (rx && in->flags & RECORDED),
		.protocol = __builtin_bswap16(s->type),
		.vlan_all = in->flags & TAG_BESIDE ? 1 : 0,
		/* not of a frame in fragments: napi_reuse_skb() */
		.encapsulation = in->flags & ENCAPSULATED && !page ? 1 : 0,
		.network_header = rx ? 0 : settings->l2, .transport_header = transport,
		.inner_transport_header = transport,
	};

	skb.data_len = skb.len - linear;
	offloads(in, &skb, &dev, s);
	if (in->flags & NOT_OURS && in->paged & 1)
		dev.ifindex++;
	else if (in->flags & NOT_OURS)
		net.ns.inum++;
	memcpy(head, data, linear);
	memcpy(head + head_size, &tail, sizeof(tail));
	kernel_mapped(head, linear);
	kernel_mapped(head + skb.end, sizeof(tail.shared));
	if (page) {
		memcpy(skb.cb, &frag, sizeof(frag));
		kernel_mapped(frag, size);
		s->n = size;
	}
	s->len = skb.len + (rx ? settings->l2 : 0);
	if (in->flags & TAG_BESIDE && (s->point == RX_STACK || s->point == TX_STACK))
		s->len += VLAN_TAG;
	s->headers = headers_of(in, s, page ? size : linear, skb.len);
	s->unread = !readable(in, s, rx ? linear : linear - settings->l2);
	s->flow_type = s->type;
	s->hidden = !page && linear < FLOW_L3 && linear < skb.len &&
		    (!linear || linear < oracle_flow_wants(s)) &&
		    !settings->dynptr;
	call(in->way, &skb, in->rc % 32);
	/* the payload's offset depends on headers that may be missing; no other read may stray */
	if (kernel_strayed() && !in->gso_size)
		die("read outside of the linear part");
	free(frag);
	free(head);
}

static void check_split(const struct input *in)
{
	struct packet p = { .len = in->paged * (in->rc + 1u), .segs = 1 };

	if (!in->gso_size)
		return;
	packet_split(&p, in->transport, in->gso_size, in->gso_segs);
	if (p.segs == 1)
		return;
	if (packet_bytes(&p) != p.len + (p.segs - 1ull) * in->transport)
		die("segments do not add up to the buffer");
	if (p.last_len <= in->transport || (!in->gso_segs && p.last_len > p.seg_len))
		die("last segment");
	if (p.segs > p.len - in->transport)
		die("more segments than bytes");
}

/* Combinations that the kernel never produces. */
static bool absurd(const struct input *in, const struct seen *s)
{
	__u64 payload = s->len - s->headers;

	if (in->way != TC || !in->gso_size)
		return false;
	/* less than its headers; and given both, tc trusts the kernel */
	return s->headers + 20 > s->len ||
	       (in->gso_segs &&
		(in->gso_segs < 2 || in->gso_size * (in->gso_segs - 1ull) >= payload));
}

static enum point point_of(enum way way)
{
	static const enum point points[NR_WAYS] = {
		RX_NIC, RX_STACK, RX_NIC, RX_NIC, RX_STACK, TX_STACK, TX_NIC
	};

	return points[way];
}

static void configure(const struct input *in)
{
	settings->on = in->on & ((1ull << NR_METERS) - 1);
	settings->ifindex = 7;
	settings->netns = 4026531840u;
	settings->rows = ROWS;
	settings->rx_queues = 4;
	settings->rx_queue = in->flags & RECORDED ? RX_QUEUE_RECORDED : RX_QUEUE_RAW;
	settings->flow_sample = 1;
	settings->tx_linear = in->most_segs & 1;
	settings->tx_least = (const __u32 []){ 0, 17, 60, 60 }[in->most_segs >> 1 & 3];
	settings->xdp_generic = !!(in->flags & GENERIC);
	settings->dynptr = !(in->flags & NO_DYNPTR);
	settings->l2 = in->flags & NO_LINK_HEADER && in->way != XDP ? 0 : ETH_HLEN;
	kernel_map_size(&flow, in->flags & NO_ROOM ? 0 : 1);
	kernel_map_size(&offload, in->flags & NO_ROOM ? 0 : 1);
}

static void run(const struct input *in, const __u8 *frame, size_t size)
{
	bool link = size >= ETH_HLEN, not_ours = in->flags & NOT_OURS && in->way > TC;
	size_t l3 = link ? ETH_HLEN : size;
	struct seen s = {
		.point = point_of(in->way), .queue = in->queue, .n = size - l3, .l3 = frame + l3,
		.type = link ? frame[12] << 8 | frame[13] : 0,
		.on = settings->on, .no_room = in->flags & NO_ROOM,
	};
	size_t at = in->way == TC || s.point >= TX_STACK ? l3 - settings->l2 : l3;
	struct counts want = {};
	__u8 *whole;

	if (in->way == XDP) {
		run_xdp(in, frame, size, &s);
		oracle(&s, &want);
		compare(&want);
		return;
	}
	if (!link || (s.point >= TX_STACK && in->linear < settings->l2))
		return;			/* the stack never has less */
	whole = whole_of(in, frame, size);
	s.l3 = whole + l3;
	s.n += in->paged;
	s.gso_size = in->gso_size;
	s.gso_segs = in->gso_segs;
	kernel_packet(whole + at, size - at + in->paged, 0);
	if (in->way == TC)
		run_tc(in, whole + at, size - at, &s);
	else
		run_skb(in, whole + at, size - at, &s);
	if (!not_ours && !(s.point == TX_NIC && in->rc % 32 >= 15))
		oracle(&s, &want);
	if (!absurd(in, &s))
		compare(&want);
	free(whole);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	__u64 page = (__u64)&config & ~4095ull;

	(void)argc;
	(void)argv;
	/* constant for the linker, but the compiler must not know its address */
	if (mprotect((void *)page, (__u64)(&config + 1) - page, PROT_READ | PROT_WRITE))
		die("cannot write to config");
	settings = (struct config *)&config;
	asm volatile("" : "+r"(settings) : : "memory");
	settings->on = 1;
	if (config.on != 1)
		die("config is not what was written");
	settings->end[METER_pktsize] = NR_POINTS * ROWS;	/* of all packet meters */
	kernel_map_size(&pktsize, NR_POINTS * ROWS);
	kernel_map_size(&ecn, NR_POINTS * ROWS);
	kernel_map_size(&rxcpu, ROWS);
	settings->set_shift = 64 - 2;
	settings->seed[0] = settings->seed[1] = 0x9e3779b97f4a7c15;
	kernel_map_size(&ecn_source, SOURCE_SETS + 1);	/* and one of marks */
	kernel_map_size(&gso, NR_POINTS * ROWS);
	return 0;
}

int LLVMFuzzerTestOneInput(const __u8 *bytes, size_t size)
{
	struct input in;
	__u64 ns = 0;

	if (size < sizeof(in))
		return 0;
	memcpy(&in, bytes, sizeof(in));
	in.way %= NR_WAYS;
	in.transport %= 256;
	kernel_reset();
	configure(&in);
	run(&in, bytes + sizeof(in), size - sizeof(in));
	check_split(&in);
	memcpy(&ns, bytes + 8, sizeof(ns));
	for (int shift = 0; shift < 64; shift++)	/* every magnitude */
		if (!oracle_loglin(ns >> shift, loglin_slot(ns >> shift)))
			die("slot of a time");
	return 0;
}
