/* SPDX-License-Identifier: GPL-2.0 */
/* Counts by remote host: segments sent again, resets, and the round trips of ended connections. */
#ifndef NICPROBE_TCP_METER_BPF_H
#define NICPROBE_TCP_METER_BPF_H

#include "bpf/tcp/tcp_again.bpf.h"

REMOTE_MAP(tcp);
static const struct tcp tcp_none;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct tcp_sock___chrono {
	__u32 chrono_start, chrono_stat[3];
	__u8 chrono_type : 2;
	__u32 rcv_ooopack, dsack_dups;
};

struct netns_ipv4___wmem {
	int sysctl_tcp_wmem[3];
};

struct net___wmem {
	struct netns_ipv4___wmem ipv4;
};

struct sock___sndbuf {
	int sk_sndbuf;
	__u8 sk_userlocks : 4;		/* 8 since 6.16 */
};

struct iphdr {
	__be32 saddr;
};

struct ipv6hdr {
	struct in6_addr saddr;
};

#pragma clang attribute pop

static __always_inline struct tcp *tcp_row(const struct remote *remote)
{
	struct tcp_key key = { *remote }, others = {};

	return REMOTE_ROW(&tcp, &key, &others, &tcp_none, METER_tcp);
}

static __always_inline struct tcp *tcp_row_of(const struct sock *sk)
{
	struct remote remote;

	remote_of(&remote, sk);
	return tcp_row(&remote);
}

/* Segments sent since the last time: those of which some were lost. */
static __always_inline void tcp_segments(const struct sock *sk, struct socket_life *life,
					 struct tcp *row)
{
	const struct tcp_sock___totals *tcp = (const void *)sk;
	__u32 now = PLAIN(tcp, data_segs_out);

	if (!life)
		return;
	COUNT(row, segments, now - life->segments);
	life->segments = now;
}

static __always_inline void tcp_again(const struct sock *sk, struct socket_life *life,
				      const struct sk_buff *skb)
{
	struct tcp *row = tcp_row_of(sk);

	if (!row)
		return;
	COUNT(row, again[tcp_again_why(sk)], tcp_again_segments(skb));
	tcp_segments(sk, life, row);
}

enum { CHRONO_BUSY = 1, CHRONO_WINDOW, CHRONO_BUFFER };	/* enum tcp_chrono, 4.10 to 6.18 */

enum { SNDBUF_LOCK = 1 };		/* SOCK_SNDBUF_LOCK, of include/uapi/linux/socket.h */

/* A buffer of the kernel's choice that is below the limit grows as it holds something back. */
static __always_inline void tcp_buffer(const struct sock *sk, struct tcp *row, __u64 held)
{
	const struct net___wmem *net = (const void *)PLAIN(sk, __sk_common.skc_net.net);
	const struct sock___sndbuf *more = (const void *)sk;

	if (BPF_CORE_READ_BITFIELD_PROBED(more, sk_userlocks) & SNDBUF_LOCK)
		SPAN_ADD(row, by_sndbuf, held * TOLD(tick_us));
	else if (PLAIN(more, sk_sndbuf) >= PLAIN(net, ipv4.sysctl_tcp_wmem[2]))
		SPAN_ADD(row, by_wmem, held * TOLD(tick_us));
}

/* The kernel's own account: each moment is in one of three sums, or the present one (jiffies). */
static __always_inline void tcp_limits(const struct sock *sk, struct tcp *row)
{
	const struct tcp_sock___chrono *tcp = (const void *)sk;
	__u32 now = BPF_CORE_READ_BITFIELD_PROBED(tcp, chrono_type);
	__u32 rest = (__u32)bpf_jiffies64() - PLAIN(tcp, chrono_start);
	__u64 window = PLAIN(tcp, chrono_stat[CHRONO_WINDOW - 1]);
	__u64 buffer = PLAIN(tcp, chrono_stat[CHRONO_BUFFER - 1]);
	__u64 busy = window + buffer + PLAIN(tcp, chrono_stat[CHRONO_BUSY - 1]);

	window += now == CHRONO_WINDOW ? rest : 0;
	buffer += now == CHRONO_BUFFER ? rest : 0;
	busy += now ? rest : 0;
	if (busy)
		SPAN_ADD(row, busy, busy * TOLD(tick_us));
	if (window)
		SPAN_ADD(row, by_receiver, window * TOLD(tick_us));
	if (buffer)
		tcp_buffer(sk, row, buffer);
	COUNT(row, out_of_order, PLAIN(tcp, rcv_ooopack));
	COUNT(row, duplicates, PLAIN(tcp, dsack_dups));
}

static __always_inline void tcp_ended(const struct sock *sk, struct socket_life *life)
{
	const struct tcp_sock___totals *tcp = (const void *)sk;
	__u32 rtt = PLAIN(tcp, srtt_us) >> 3, least = PLAIN(tcp, rtt_min.s[0].v);
	struct tcp *row = tcp_row_of(sk);

	if (!row)
		return;
	tcp_segments(sk, life, row);
	if (life && life->established)
		tcp_limits(sk, row);
	if (rtt)
		SPAN_ADD(row, rtt, rtt * 1000ull);
	if (rtt && ~least)
		SPAN_ADD(row, rtt_min, least * 1000ull);
}

/* Who sent this packet, which is answered by a reset. */
static __always_inline bool remote_of_packet(struct remote *to, const struct sk_buff *skb)
{
	const void *l3 = PLAIN(skb, head) + PLAIN(skb, network_header);
	__u8 version = 0;

	bpf_probe_read_kernel(&version, 1, l3);
	if (version >> 4 == 4)
		remote_v4(to, BPF_CORE_READ((const struct iphdr *)l3, saddr));
	else if (version >> 4 == 6)
		bpf_core_read(to, sizeof(*to), &((const struct ipv6hdr *)l3)->saddr);
	return version >> 4 == 4 || version >> 4 == 6;
}

/*
 * The row of an address that a packet may have made up, as nothing came of it yet: that of `others`
 * if there is none. Forged packets would fill the map otherwise.
 */
static __always_inline struct tcp *tcp_row_known(const struct remote *remote)
{
	struct tcp_key key = { *remote }, others = {};

	return bpf_map_lookup_elem(&tcp, &key) ?: bpf_map_lookup_elem(&tcp, &others);
}

static __always_inline void tcp_reset(struct tcp *row, bool sent)
{
	if (row && sent)
		COUNT(row, resets_sent, 1);
	else if (row)
		COUNT(row, resets_received, 1);
}

#endif
