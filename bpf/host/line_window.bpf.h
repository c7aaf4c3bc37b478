/* SPDX-License-Identifier: GPL-2.0 */
/* Lines of HOST_window: how much TCP lets a connection send, and what limits it. */
#ifndef NICPROBE_LINE_WINDOW_BPF_H
#define NICPROBE_LINE_WINDOW_BPF_H

#include "bpf/host/line.bpf.h"
#include "bpf/tcpwait/tcpwait_why.bpf.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct tcp_sock___window {
	__u32 snd_cwnd, snd_ssthresh;
};

struct socket___room {
	unsigned long flags;
};

struct sock___room {
	struct socket___room *sk_socket;
};

#pragma clang attribute pop

#define SOCK_NOSPACE	2	/* a bit of include/linux/net.h, 6.1 to 6.18 */

/* What the last line of a connection said. */
struct line_window {
	__u32 cwnd, ssthresh, state, limit;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct line_window);
} line_windows SEC(".maps");

/* A program has found no room to write more, until tcp_check_space() makes some. */
static __always_inline bool window_no_room(const struct sock *plain)
{
	const struct sock___room *sk = (const void *)plain;
	const struct socket___room *socket = PLAIN(sk, sk_socket);

	return socket && PLAIN(socket, flags) >> SOCK_NOSPACE & 1;
}

/* What has kept it from sending more until now. */
static __always_inline __u32 window_limit(const struct sock *plain)
{
	const struct sock___wait *more = (const void *)plain;
	__u32 queued = PLAIN(more, sk_write_queue.qlen);
	struct tcpwait_head head;

	if (queued) {
		tcpwait_head_read(&head, PLAIN(more, sk_write_queue.next), queued == 1);
		return tcpwait_why(plain, &head, NULL);
	}
	return window_no_room(plain) ? LIMIT_SEND_BUFFER : LIMIT_APPLICATION;
}

static __always_inline bool window_is_new(const struct sock *sk, const struct host_line *l)
{
	struct line_window *seen = bpf_sk_storage_get(&line_windows, (void *)sk, NULL,
						      BPF_SK_STORAGE_GET_F_CREATE);

	if (!seen) {
		__sync_fetch_and_add(&unread, 1);
		return false;
	}
	if (seen->cwnd == l->cwnd && seen->ssthresh == l->ssthresh &&
	    seen->state == l->congestion && seen->limit == l->limit)
		return false;
	seen->cwnd = l->cwnd;
	seen->ssthresh = l->ssthresh;
	seen->state = l->congestion;
	seen->limit = l->limit;
	return true;
}

/* `state`: enum tcp_ca_state, which the kernel may be about to set. */
static __always_inline void window_told(const struct sock *sk, const struct sock *plain,
					__u32 state)
{
	const struct tcp_sock___window *tcp = (const void *)plain;
	const struct tcp_sock___totals *totals = (const void *)plain;
	const struct tcp_sock___wait *sending = (const void *)plain;
	struct remote remote;
	struct host_line l;

	remote_of(&remote, plain);
	if (!ends_are_wanted(&remote, port_local(plain), port_remote(plain)))
		return;
	line_begin(&l, life_of(sk));
	ends_put(&l, plain, port_local(plain));
	l.cwnd = PLAIN(tcp, snd_cwnd);
	l.ssthresh = PLAIN(tcp, snd_ssthresh);
	l.congestion = state;
	l.limit = window_limit(plain);
	if (!window_is_new(sk, &l))
		return;
	l.span = (PLAIN(totals, srtt_us) >> 3) * 1000ull ?: SPAN_UNKNOWN;
	l.segments = PLAIN(sending, packets_out) - PLAIN(sending, sacked_out) -
		     PLAIN(sending, lost_out) + PLAIN(sending, retrans_out);
	l.peer_window = PLAIN(sending, snd_wnd);
	way_put(&l, plain);
	line_tell(&l);
}

static __always_inline __u32 window_state(const struct sock *plain)
{
	const struct inet_connection_sock *icsk = (const void *)plain;

	return BPF_CORE_READ_BITFIELD_PROBED(icsk, icsk_ca_state);
}

/* As a segment comes, before the kernel looks at it. */
static __always_inline int window_heard(const struct sock *sk, bool again)
{
	const struct sock *plain = ARGUMENT(sk);

	if (tcp_is_ours(plain) && mine(sk, again))
		window_told(sk, plain, window_state(plain));
	return 0;
}

/* The windows were changed just before; or a closed socket is made ready for another use. */
static __always_inline int window_congested(const struct sock *sk, __u8 state, bool again)
{
	const struct sock *plain = ARGUMENT(sk);

	if (tcp_is_ours(plain) && PLAIN(plain, __sk_common.skc_state) != TCP_CLOSE &&
	    mine(sk, again))
		window_told(sk, plain, state);
	return 0;
}

SEC("?tp_btf/tcp_probe")
int BPF_PROG(line_heard, const struct sock *sk)
{
	return window_heard(sk, false);
}

SEC("?tp_btf/tcp_probe")
int BPF_PROG(line_heard_again, const struct sock *sk)
{
	return window_heard(sk, true);
}

SEC("?tp_btf/tcp_cong_state_set")
int BPF_PROG(line_congested, const struct sock *sk, const __u8 state)
{
	return window_congested(sk, state, false);
}

SEC("?tp_btf/tcp_cong_state_set")
int BPF_PROG(line_congested_again, const struct sock *sk, const __u8 state)
{
	return window_congested(sk, state, true);
}

#endif
