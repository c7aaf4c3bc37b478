/* SPDX-License-Identifier: GPL-2.0 */
/* The rx-nic hook by XDP, before there is an skb. Always returns XDP_PASS. */
#include <stddef.h>

#include "xdp/packet.bpf.h"
#include "lib/core/kernel.bpf.h"

/* The kernel's own view of a frame, with config.xdp_cast. */
static const struct xdp_buff *(*const kern_ctx)(struct xdp_md *) = (void *)KERN_CTX_CALL;

/*
 * Bytes of the frame, with its fragments. The helper takes longer than all other work for a frame
 * where the CPU does not predict returns: it is asked only about frames that have fragments.
 */
static __always_inline __u64 length_of(struct xdp_md *ctx, const void *data, const void *end)
{
	if (is_set(xdp_cast) && LIKELY(!(kern_ctx(ctx)->flags & XDP_HAS_FRAGS)))
		return end - data;
	return bpf_xdp_get_buff_len(ctx);
}

/* Generic XDP has queue_mapping - 1, whether that is meaningful or not; 0 if none is recorded. */
static __always_inline __u32 queue_of(const struct xdp_md *ctx)
{
	if (is_set(xdp_generic) && TOLD(rx_queues) > 1 && TOLD(rx_queue) != RX_QUEUE_RECORDED)
		return ~0u;
	return ctx->rx_queue_index;
}

/* Samples the packet's flow, from the EtherType on, whichever fragment holds it. */
static __noinline int look(struct xdp_md *ctx)
{
	__u32 len = bpf_xdp_get_buff_len(ctx), last = len - FLOW_HEAD_AT - 1;
	struct flow_head head = {};

	if (last >= FLOW_HEAD_SIZE)
		last = FLOW_HEAD_SIZE - 1;
	/* verifiers up to 6.12 track bounds only of the compared value, not of sums with it */
	barrier_var(last);
	if (len > FLOW_HEAD_AT && last < FLOW_HEAD_SIZE)
		bpf_xdp_load_bytes(ctx, FLOW_HEAD_AT, &head.type, last + 1);
	return flow_take(&head, row_of(RX_NIC, queue_of(ctx)), 1, len);
}

/*
 * Laid out for an IPv4 packet that is not marked: its way has no call, and jumps little. The helper
 * that tells the CPU comes before the frame is read, as it leaves four registers as they are.
 */
SEC("xdp.frags")
int nicprobe_rx(struct xdp_md *ctx)
{
	struct packet p;	/* without what only others need: zeros would take a nanosecond */
	void *data, *end;
	const __be16 *type;
	__u64 at;

	if (!LIKELY(has_begun()))
		return XDP_PASS;
	if (!LIKELY(packet_place(row_of(RX_NIC, queue_of(ctx)), &at)))
		return XDP_PASS;
	data = (void *)(long)ctx->data;
	end = (void *)(long)ctx->data_end;
	p.point = RX_NIC;
	p.len = length_of(ctx, data, end);
	p.segs = 1;
	p.ecn = ECN_NOT_IP;
	p.look = false;
	p.counted = true;	/* last, so that what follows from it follows there */
	type = data + offsetof(struct ethhdr, h_proto);	/* the struct is packed */
	if (LIKELY((void *)(type + 1) <= end) && packet_headers_wanted())
		packet_parse(&p, type + 1, end, *type);
	meter_packet_at(&p, at);
	if (any_on(1 << METER_rxcpu | 1 << METER_flow))
		rxcpu_count(&p, at);
	if (p.look)
		look(ctx);
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
