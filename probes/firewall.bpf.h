/* SPDX-License-Identifier: GPL-2.0 */
/* Packets before the first rule of netfilter, and behind the last: the rest was dropped between. */

/* A packet that leaves by `dev`, or that came by it. */
static __always_inline int passes(const struct bpf_nf_ctx *ctx, const struct net_device *dev,
				  bool leaves, enum source s, enum stable_probe p)
{
	const struct sk_buff *skb = ctx->skb;
	struct probe_event *e;

	if (!serves_way(s, p))
		return NF_ACCEPT;
	e = event_of(ctx->state->net, dev, PREEMPTIBLE);
	if (!e)
		return NF_ACCEPT;
	if (leaves ? sent_passes(e, skb, dev, dev->hard_header_len) :
		     received_passes(e, skb, dev)) {
		if (leaves)
			e->have &= ~HAVE(QUEUE);	/* it is chosen later */
		fire_way(e, s, p);
	}
	event_end(e);
	return NF_ACCEPT;
}

#define COMES(of, physical, loopback)						\
SEC("netfilter")								\
int of(struct bpf_nf_ctx *ctx)							\
{										\
	const struct nf_hook_state *state = ctx->state;				\
	const struct net_device *dev = state->in;				\
										\
	return passes(ctx, dev, false, SOURCE_##of, WAY(state, dev, physical, loopback)); \
}
COMES(nf_pre_first, physical_in_start, loopback_in_start)
COMES(nf_pre_last, physical_in_end, loopback_in_end)
COMES(nf_forward_first, forwarding_start, forwarding_start)
COMES(nf_forward_last, forwarding_end, forwarding_end)

SEC("netfilter")
int nf_post_first(struct bpf_nf_ctx *ctx)
{
	const struct nf_hook_state *state = ctx->state;
	const struct net_device *dev = state->out;

	return passes(ctx, dev, true, SOURCE_nf_post_first,
		      WAY(state, dev, physical_out_start, loopback_out_start));
}

SEC("netfilter")
int nf_local_out(struct bpf_nf_ctx *ctx)
{
	return passes(ctx, ctx->state->out, true, SOURCE_nf_local_out, PROBE_ip_request);
}
