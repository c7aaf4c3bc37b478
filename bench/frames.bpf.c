/* SPDX-License-Identifier: GPL-2.0 */
/* Makes live frames: gives each frame the next source address and redirects it. */
#include <stddef.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

const volatile __u32 out;	/* the interface to send on */
const volatile __u32 sources = 1;
__u32 next;

/* Address and identification add up to a constant, so the checksum stays valid. */
SEC("xdp")
int frames(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct iphdr *ip = data + ETH_HLEN;
	__u16 source;

	if (data + ETH_HLEN + sizeof(*ip) > end)
		return XDP_ABORTED;
	source = next++ % sources;
	ip->id = bpf_htons(0xffff - source);
	*((__be16 *)&ip->saddr + 1) = bpf_htons(source);
	return bpf_redirect(out, 0);
}

char _license[] SEC("license") = "GPL";
