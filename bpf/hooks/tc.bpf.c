/* SPDX-License-Identifier: GPL-2.0 */
/* The rx-stack hook: first in tc ingress, after GRO and RPS; leaves the verdict to others. */
#include "bpf/gro/gro_buffer.bpf.h"

/* As in dev.bpf.h and skb.bpf.h, but for tc's struct __sk_buff. */
MAP(HASH, napi_queue, __u32, __u32, 8192);

static __always_inline __u32 queue_of(const struct __sk_buff *skb)
{
	__u32 recorded = skb->queue_mapping, id = skb->napi_id, *known;

	if (TOLD(rx_queues) == 1)
		return 0;
	if (TOLD(rx_queue) == RX_QUEUE_RAW)
		return recorded;
	if (TOLD(rx_queue) == RX_QUEUE_RECORDED && recorded)
		return recorded - 1;
	/* the rx-nic hook saw the packet first and has filled the map */
	known = id ? row_at(&napi_queue, id) : NULL;
	return known ? *known : ~0u;
}

/* Offset and type of what follows IPv6 and its extension headers. */
static __always_inline __u32 ipv6_end(struct __sk_buff *skb, __u32 at, __u8 *type)
{
	__u8 next[2];

	for (int i = 0; i < IPV6_HEADERS && ipv6_extends(*type); i++) {
		if (bpf_skb_load_bytes(skb, at, next, sizeof(next)))
			break;
		at += ipv6_extends_by(*type, next[1]);
		*type = next[0];
	}
	return at;
}

/* LRO and guest TSO of virtio leave gso_segs 0: compute it from the payload. */
static __always_inline __u32 segments(struct __sk_buff *skb)
{
	__u32 at = TOLD(l2), size = skb->gso_size;
	__u8 first = 0, proto = 0, doff = 0;
	__be16 type = skb->protocol;

	if (!size)
		return 1;
	if (skb->gso_segs)
		return skb->gso_segs;
	/* normally only an inner tag is in the data; with tag offload off there may be two */
	for (int tags = 0; tags < 2; tags++) {
		if (!is_vlan(type))
			break;
		if (bpf_skb_load_bytes(skb, at + 2, &type, 2))
			return 1;
		at += VLAN_TAG;
	}
	if (bpf_skb_load_bytes(skb, at, &first, 1))
		return 1;
	bpf_skb_load_bytes(skb, at + (first >> 4 == 6 ? 6 : 9), &proto, 1);
	if (first >> 4 == 6)
		at = ipv6_end(skb, at + 40, &proto);
	else
		at += (first & 15) * 4;
	if (proto == 6 && !bpf_skb_load_bytes(skb, at + 12, &doff, 1))
		at += (doff >> 4) * 4;
	else
		at += 8;
	return skb->len > at ? (skb->len - at + size - 1) / size : 1;
}

/* Parses a copy of the header if the packet is short or its header is in a page. */
static __always_inline void parse_short(struct __sk_buff *skb, struct packet *p)
{
	__u8 head[HEAD_SIZE] HEAD_ALIGNED = {};
	__u32 n = skb->len - TOLD(l2);

	if (skb->len < TOLD(l2) + 20)
		return;
	if (n > HEAD_SIZE)
		n = HEAD_SIZE;
	barrier_var(n);
	if (n > HEAD_SIZE || bpf_skb_load_bytes(skb, TOLD(l2), head, n))
		return;
	packet_parse(p, head, head + n, skb->protocol);
}

SEC("tc")
int nicprobe_tc(struct __sk_buff *skb)
{
	void *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	struct packet p = {
		.point = RX_STACK,
		.row = row_of(RX_STACK, queue_of(skb)),
		.len = skb->len + (skb->vlan_present ? VLAN_TAG : 0),
		.segs = 1,
		.ecn = ECN_NOT_IP,
	};

	if (!has_begun())
		return -1;
	if (skb->gso_size)
		p.segs = segments(skb);
	/* first: after the other meters the verifier would follow it for each way through them */
	if (is_set(buffers_at_tc)) {
		gro_buffer(&p);
		FORGET(p.segs, skb->len);
	}
	/* helpers that can move the data were called: reload its bounds */
	data = (void *)(long)skb->data;
	end = (void *)(long)skb->data_end;
	if (data + TOLD(l2) + HEAD_SIZE > end && packet_headers_wanted())
		parse_short(skb, &p);
	else if (packet_headers_wanted())
		packet_parse(&p, data + TOLD(l2), end, skb->protocol);
	meter_packet(&p);
	return -1;	/* TC_ACT_UNSPEC for a filter, TCX_NEXT for tcx: continue */
}

char _license[] SEC("license") = "GPL";
