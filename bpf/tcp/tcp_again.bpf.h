/* SPDX-License-Identifier: GPL-2.0 */
/* Why TCP sends something again, and how many segments. */
#ifndef NICPROBE_TCP_AGAIN_BPF_H
#define NICPROBE_TCP_AGAIN_BPF_H

#include "bpf/host/socket.bpf.h"
#include "bpf/tcp/tcp.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct tcp_skb_cb {
	__u16 tcp_gso_segs;
};

#pragma clang attribute pop

enum { CA_RECOVERY = 3, CA_LOSS = 4 };	/* enum tcp_ca_state, of include/uapi/linux/tcp.h */

static __always_inline enum tcp_again tcp_again_why(const struct sock *sk)
{
	const struct inet_connection_sock *icsk = (const void *)sk;
	__u8 state = PLAIN(sk, __sk_common.skc_state), ca;

	if (state == TCP_SYN_SENT)
		return TCP_AGAIN_SYN;
	ca = BPF_CORE_READ_BITFIELD_PROBED(icsk, icsk_ca_state);
	return ca == CA_LOSS ? TCP_AGAIN_TIMEOUT : ca == CA_RECOVERY ? TCP_AGAIN_FAST :
	       TCP_AGAIN_PROBE;
}

static __always_inline __u32 tcp_again_segments(const struct sk_buff *skb)
{
	return BPF_CORE_READ((const struct tcp_skb_cb *)skb->cb, tcp_gso_segs);
}

#endif
