/* SPDX-License-Identifier: GPL-2.0 */
/* Counts frames redirected to one interface: sent, dropped or refused, by errno. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "lib/core/kernel.bpf.h"
#include "trial/load/live.h"

const volatile struct redirects_config config;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, REDIRECT_ERRORS);
	__type(key, __u32);
	__type(value, struct redirected);
} redirected SEC(".maps");

static __always_inline struct redirected *row_of(int err)
{
	__u32 key = -err;

	if (key >= REDIRECT_ERRORS)
		key = REDIRECT_ERRORS - 1;
	return bpf_map_lookup_elem(&redirected, &key);
}

/* Called once per bulk of up to 16 frames, at the end of a poll or a batch. */
SEC("tp_btf/xdp_devmap_xmit")
int BPF_PROG(xmit, const struct net_device *from, const struct net_device *to, int sent, int drops,
	     int err)
{
	struct redirected *r;

	if (!to || to->ifindex != (int)config.ifindex || to->nd_net.net->ns.inum != config.netns)
		return 0;
	r = row_of(err);
	if (r) {
		r->sent += sent;
		r->dropped += drops;
	}
	return 0;
}

/* Redirects by ifindex (map_type 0) look it up in the namespace of the receiving device. */
SEC("tp_btf/xdp_redirect_err")
int BPF_PROG(refused, const struct net_device *from, const struct bpf_prog *prog, const void *to,
	     int err, int map_type, __u32 map_id, __u32 index)
{
	struct redirected *r;

	if (map_type || index != config.ifindex || !from ||
	    from->nd_net.net->ns.inum != config.netns)
		return 0;
	r = row_of(err);
	if (r)
		r->refused++;
	return 0;
}

char _license[] SEC("license") = "GPL";
