/* SPDX-License-Identifier: GPL-2.0 */
/* What holds the data of a TCP socket back: what tcp_write_xmit() asks, in its order. */
#ifndef NICPROBE_TCPWAIT_WHY_BPF_H
#define NICPROBE_TCPWAIT_WHY_BPF_H

#include "bpf/host/socket.bpf.h"
#include "bpf/tcpwait/tcpwait.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct counter___wait {		/* atomic_t, refcount_t */
	int counter;
};

struct refcount___wait {
	struct counter___wait refs;
};

struct rb_node {
	struct rb_node *rb_left, *rb_right;
};

struct rb_root {
	struct rb_node *rb_node;
};

struct socket_lock_t___wait {
	int owned;
};

struct sk_buff_head___wait {
	struct sk_buff___wait *next;
	__u32 qlen;
};

struct sock___wait {
	struct sk_buff_head___wait sk_write_queue;
	struct refcount___wait sk_wmem_alloc;
	struct rb_root tcp_rtx_queue;
	unsigned long sk_tsq_flags, sk_pacing_rate, sk_max_pacing_rate;
	__u32 sk_pacing_status;
	__u8 sk_pacing_shift;
	struct socket_lock_t___wait sk_lock;
};

struct tcp_sock___wait {
	__u64 tcp_clock_cache, tcp_wstamp_ns;
	__u32 packets_out, sacked_out, lost_out, retrans_out, snd_cwnd;
	__u32 snd_una, snd_wnd, snd_nxt, snd_sml, mss_cache, data_segs_out;
	__u8 nonagle : 4;
};

struct sk_buff___wait {
	struct sk_buff___wait *next;
	unsigned int len, truesize;
	char cb[48];
};

struct tcp_skb_cb___wait {
	__u32 seq, end_seq;
	__u16 tcp_gso_segs;
	__u8 tcp_flags;			/* 16 bits since 6.15; these are the lower ones */
};

struct net___wait {
	struct netns_ipv4___wait {
		int sysctl_tcp_limit_output_bytes;
	} ipv4;
};

#pragma clang attribute pop

enum { PACING_NONE, PACING_NEEDED, PACING_FQ };		/* enum sk_pacing */
enum { NAGLE_OFF = 1, NAGLE_CORK = 2, NAGLE_PUSH = 4 };	/* TCP_NAGLE_OFF, … */
/* Bits of sk_tsq_flags: the queue was full; it is not any more, and the socket is to send soon. */
enum { TSQ_THROTTLED = 1, TSQ_QUEUED = 2, TSQ_DEFERRED = 4 };
#define TCP_FIN		1

static __always_inline bool tcp_after(__u32 a, __u32 b)
{
	return (__s32)(b - a) < 0;
}

/* A buffer of the write queue, and the one that is on its way: the kernel counts it later. */
struct tcpwait_head {
	__u32 seq, end, len, truesize;
	__u8 fin;
	bool last;
};

/* What a socket will be like once `leaves` is sent; `leaves` NULL: what it is like. */
struct tcpwait_socket {
	__u32 nxt, una, wnd_end, mss, cwnd, out, in_flight, sml;
	__u8 nonagle;
};

#define CB(skb)	((const struct tcp_skb_cb___wait *)(skb)->cb)

static __always_inline void tcpwait_head_read(struct tcpwait_head *to,
					      const struct sk_buff___wait *skb, bool last)
{
	to->seq = PLAIN(CB(skb), seq);
	to->end = PLAIN(CB(skb), end_seq);
	to->len = PLAIN(skb, len);
	to->truesize = PLAIN(skb, truesize);
	to->fin = PLAIN(CB(skb), tcp_flags) & TCP_FIN;
	to->last = last;
}

static __always_inline void tcpwait_socket_read(struct tcpwait_socket *to,
						const struct tcp_sock___wait *tp,
						const struct sk_buff___wait *leaves)
{
	__u32 segs;

	to->nxt = PLAIN(tp, snd_nxt);
	to->una = PLAIN(tp, snd_una);
	to->wnd_end = to->una + PLAIN(tp, snd_wnd);
	to->mss = PLAIN(tp, mss_cache);
	to->cwnd = PLAIN(tp, snd_cwnd);
	to->out = PLAIN(tp, packets_out);
	to->in_flight = to->out - PLAIN(tp, sacked_out) - PLAIN(tp, lost_out) +
			PLAIN(tp, retrans_out);
	to->sml = PLAIN(tp, snd_sml);
	to->nonagle = BPF_CORE_READ_BITFIELD_PROBED(tp, nonagle);
	if (!leaves)
		return;
	segs = PLAIN(CB(leaves), tcp_gso_segs);
	to->nxt = PLAIN(CB(leaves), end_seq);
	to->out += segs;
	to->in_flight += segs;
	if (PLAIN(leaves, len) < segs * to->mss)	/* tcp_minshall_update() */
		to->sml = to->nxt;
}

/* tcp_pacing_check(). What is sent puts the next departure later, always. */
static __always_inline bool tcpwait_paced(const struct sock___wait *sk,
					  const struct tcp_sock___wait *tp, bool leaves)
{
	unsigned long rate;

	if (PLAIN(sk, sk_pacing_status) != PACING_NEEDED)
		return false;
	if (!leaves)
		return PLAIN(tp, tcp_wstamp_ns) > PLAIN(tp, tcp_clock_cache);
	rate = PLAIN(sk, sk_pacing_rate);
	return rate && ~rate && PLAIN(tp, data_segs_out) >= 10;
}

/* Whose rate is it? Congestion control is cut short where it comes to more (4.20 to 6.18). */
static __always_inline enum tcpwait_cause tcpwait_rate(const struct sock___wait *sk)
{
	unsigned long most = PLAIN(sk, sk_max_pacing_rate);

	return ~most && PLAIN(sk, sk_pacing_rate) >= most ? TCPWAIT_MAX_RATE : TCPWAIT_PACING;
}

/* tcp_nagle_test(); `partial`: less than a segment */
static __always_inline enum tcpwait_cause
tcpwait_nagle(const struct tcpwait_socket *s, const struct tcpwait_head *head)
{
	if (head->fin || !head->last || head->len >= s->mss || s->nonagle & NAGLE_PUSH)
		return TCPWAIT_NOTHING;
	if (s->nonagle & NAGLE_CORK)
		return TCPWAIT_CORK;
	return !s->nonagle && s->out && tcp_after(s->sml, s->una) && !tcp_after(s->sml, s->nxt) ?
	       TCPWAIT_NAGLE : TCPWAIT_NOTHING;
}

/* tcp_rtx_queue_empty_or_single_skb(), where `leaves` will be one of them. */
static __always_inline bool tcpwait_few_sent(const struct sock___wait *sk, bool leaves)
{
	const struct rb_node *root = PLAIN(sk, tcp_rtx_queue.rb_node);

	return !root || (!leaves && !PLAIN(root, rb_left) && !PLAIN(root, rb_right));
}

/* Less than any segment with data is charged, more than some pure ACKs: skb_set_tcp_pure_ack(). */
#define SEGMENT_CHARGED	512

/*
 * tcp_small_queue_check(). The first bits say that the kernel has found it so, also where it did
 * not ask tcp_write_xmit() (tcp_should_autocork()). TSQ_THROTTLED stays after the queue has become
 * empty; while any segment is in it, that one's end goes on with the next. Within ksoftirqd that is
 * the last one's: tcp_wfree().
 */
static __always_inline bool tcpwait_queued(const struct sock *sk, const struct tcpwait_head *head,
					   __u32 mss, bool leaves)
{
	const struct sock___wait *s = (const void *)sk;
	const struct net___wait *net = (const void *)PLAIN(sk, __sk_common.skc_net.net);
	unsigned long rate = PLAIN(s, sk_pacing_rate), limit, most, part;
	__u32 queued = PLAIN(s, sk_wmem_alloc.refs.counter), truesize = head->truesize;
	unsigned long flags = leaves ? 0 : PLAIN(s, sk_tsq_flags);

	if (flags & (TSQ_QUEUED | TSQ_DEFERRED) ||
	    (flags & TSQ_THROTTLED && queued > SEGMENT_CHARGED))
		return true;
	limit = rate >> (PLAIN(s, sk_pacing_shift) & 63);
	/* of the buffer only as much as may leave at once: tcp_tso_autosize(), tso_fragment() */
	part = limit > mss ? limit : mss;
	if (head->len > part)
		truesize -= head->len - part;
	if (limit < 2 * truesize)
		limit = 2 * truesize;
	most = PLAIN(net, ipv4.sysctl_tcp_limit_output_bytes);
	if (PLAIN(s, sk_pacing_status) == PACING_NONE && limit > most)
		limit = most;
	return queued > limit && !tcpwait_few_sent(s, leaves);
}

/* tcp_tso_should_defer(): it waits for more room, to send more at once. */
static __always_inline enum tcpwait_cause
tcpwait_deferred(const struct tcpwait_socket *s, const struct tcpwait_head *head)
{
	__u32 cong = (s->cwnd - s->in_flight) * s->mss, send = s->wnd_end - head->seq;

	if (head->len <= s->mss)
		return TCPWAIT_NOTHING;
	return cong < send ? (cong <= head->len ? TCPWAIT_CWND : TCPWAIT_NOTHING) :
	       send <= head->len ? TCPWAIT_RWND : TCPWAIT_NOTHING;
}

/*
 * What holds `head`, the first buffer that was not sent, or will be once `leaves` is. Nothing of
 * all this, and nobody is about to send it: a program that said MSG_MORE, of less than a segment.
 */
static __always_inline enum tcpwait_cause
tcpwait_why(const struct sock *sk, const struct tcpwait_head *head,
	    const struct sk_buff___wait *leaves)
{
	const struct tcp_sock___wait *tp = (const void *)sk;
	const struct sock___wait *more = (const void *)sk;
	struct tcpwait_socket s;
	enum tcpwait_cause why;
	__u32 end = head->end;

	tcpwait_socket_read(&s, tp, leaves);
	if (tcpwait_paced(more, tp, leaves))
		return tcpwait_rate(more);
	if (s.in_flight >= s.cwnd)
		return TCPWAIT_CWND;
	if (head->len > s.mss)
		end = head->seq + s.mss;
	if (tcp_after(end, s.wnd_end))
		return TCPWAIT_RWND;
	why = tcpwait_nagle(&s, head);
	if (why)
		return why;
	if (tcpwait_queued(sk, head, s.mss, leaves))
		return TCPWAIT_SMALL_QUEUES;
	why = tcpwait_deferred(&s, head);
	if (why)
		return why;
	if (PLAIN(more, sk_lock.owned))	/* a program is about to write more, or to send it */
		return TCPWAIT_NOTHING;
	return head->last && head->len < s.mss && !head->fin && !leaves ? TCPWAIT_CORK :
	       TCPWAIT_OTHER;
}

#endif
