/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Follows what is first in a socket's write queue, from one moment at which the kernel may change
 * it to the next: a segment leaves, one comes, a program has written. Between these it stays.
 */
#ifndef NICPROBE_TCPWAIT_BPF_H
#define NICPROBE_TCPWAIT_BPF_H

#include "bpf/tcpwait/tcpwait_why.bpf.h"

REMOTE_MAP(tcpwait);
static const struct tcpwait tcpwait_none;

#define HELD_BITS	4		/* of tcpwait_hold.state: the cause */
#define HELD_CAUSE	((1 << HELD_BITS) - 1)
_Static_assert(NR_TCPWAIT <= HELD_CAUSE + 1, "a cause has four bits");

struct tcpwait_hold {
	__u64 state;		/* since when (ns) << 4 | enum tcpwait_cause; 0: nothing is held */
	__u64 clock;		/* tcp_clock_cache then: tcp_write_xmit() sets it when it begins */
	__u64 departs;		/* with fq: when the last segment may leave */
	__u64 paced;		/* without: until when it was seen to wait for its pace */
	__u32 from;		/* the first octet that is held */
	__u32 sent;		/* where the last segment began that left: a device below another
				   shows it once more */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct tcpwait_hold);
} tcpwait_holds SEC(".maps");

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sk_buff___stamp {
	__s64 tstamp;
};

struct tcphdr___wait {
	__be32 seq;
};

#pragma clang attribute pop

static __always_inline void tcpwait_count(const struct sock *sk, enum tcpwait_cause cause,
					  __u64 ns, __u32 bytes)
{
	struct tcpwait_key key = { .cause = cause }, others = { .cause = cause };
	struct tcpwait *row;

	remote_of(&key.remote, sk);
	row = REMOTE_ROW(&tcpwait, &key, &others, &tcpwait_none, METER_tcpwait);
	if (!row)
		return;
	SPAN_ADD(row, held, ns);
	COUNT(row, bytes, bytes);
}

/* A wait that began as `old` says has ended. */
static __always_inline void tcpwait_ended(const struct sock *sk, __u64 old, __u64 now, __u32 bytes)
{
	__u64 since = old >> HELD_BITS;

	tcpwait_count(sk, old & HELD_CAUSE, now > since ? now - since : 0, bytes);
}

/*
 * A pace that has ended says when: what holds it now does so since then, and not since the socket
 * was last touched. The timer that ends the pace sends nothing where something else holds the data.
 */
static __always_inline __u64 tcpwait_pace_over(const struct tcpwait_hold *hold, __u64 old,
					       __u64 since)
{
	enum tcpwait_cause was = old & HELD_CAUSE;

	return (was == TCPWAIT_PACING || was == TCPWAIT_MAX_RATE) &&
	       hold->paced > old >> HELD_BITS && hold->paced < since ? hold->paced : since;
}

/*
 * Nothing is being sent now. `since`: from when on it has been as it is. What was expected as a
 * segment left is put right if tcp_write_xmit() has not run again.
 */
static __always_inline void tcpwait_look(const struct sock *sk, const struct sock *plain,
					 __u64 since)
{
	const struct sock___wait *more = (const void *)plain;
	const struct tcp_sock___wait *tp = (const void *)plain;
	struct tcpwait_hold *hold;
	struct tcpwait_head head;
	enum tcpwait_cause why;
	__u64 old, new, clock;
	__u32 queued, nxt;

	queued = PLAIN(more, sk_write_queue.qlen);
	hold = bpf_sk_storage_get(&tcpwait_holds, (void *)sk, NULL,
				  queued ? BPF_SK_STORAGE_GET_F_CREATE : 0);
	if (!hold)
		return;
	old = hold->state;
	if (!queued) {
		hold->state = 0;
		return;
	}
	tcpwait_head_read(&head, PLAIN(more, sk_write_queue.next), queued == 1);
	why = tcpwait_why(plain, &head, NULL);
	nxt = PLAIN(tp, snd_nxt);
	clock = PLAIN(tp, tcp_clock_cache);
	if (old && hold->from != nxt)
		old = hold->state = 0;
	if (why == TCPWAIT_PACING || why == TCPWAIT_MAX_RATE)
		hold->paced = PLAIN(tp, tcp_wstamp_ns);
	else
		since = tcpwait_pace_over(hold, old, since);
	if (!why || (old & HELD_CAUSE) == why)
		return;
	new = since << HELD_BITS | why;
	if (old && hold->clock == clock)
		new = (old & ~(__u64)HELD_CAUSE) | why;
	if (__sync_val_compare_and_swap(&hold->state, old, new) != old)
		return;		/* a segment left meanwhile */
	hold->from = nxt;
	hold->clock = clock;
	if (old && (old ^ new) & ~(__u64)HELD_CAUSE)
		tcpwait_ended(plain, old, since, 0);
}

/* With fq: the time until it may leave, from when the one before it does. */
static __always_inline void tcpwait_departs(const struct sock *sk, struct tcpwait_hold *hold,
					    const struct sk_buff *skb, __u64 now, __u32 bytes)
{
	const struct sk_buff___stamp *stamp = (const void *)skb;
	__u64 departs = PLAIN(stamp, tstamp), before = hold->departs;

	hold->departs = departs;
	if (before < now)
		before = now;
	if (departs > before)
		tcpwait_count(sk, tcpwait_rate((const void *)sk), departs - before, bytes);
}

/* Is this the first time that `first` leaves? A copy of it does, and has a header. */
static __always_inline bool tcpwait_is_new(const struct sk_buff *skb, __u32 nxt,
					   const struct sk_buff___wait *first)
{
	const struct tcphdr___wait *tcp = (const void *)(PLAIN(skb, head) +
							 PLAIN(skb, transport_header));
	__be32 seq = 0;

	bpf_core_read(&seq, sizeof(seq), &tcp->seq);
	return bpf_ntohl(seq) == nxt && PLAIN(CB(first), seq) == nxt &&
	       PLAIN(skb, len) > PLAIN(first, len);
}

/*
 * A segment leaves, within tcp_write_xmit(): it is still the first of the queue, and not counted as
 * sent. `state` says since when and why it was held; what will hold the next one is computed.
 */
static __always_inline void tcpwait_leaves(const struct sock *sk, const struct sk_buff *skb)
{
	const struct sock *plain = ARGUMENT(sk);
	const struct sock___wait *more = (const void *)plain;
	const struct tcp_sock___wait *tp = (const void *)plain;
	__u32 queued = PLAIN(more, sk_write_queue.qlen), nxt = PLAIN(tp, snd_nxt);
	const struct sk_buff___wait *first = PLAIN(more, sk_write_queue.next);
	bool fq = PLAIN(more, sk_pacing_status) == PACING_FQ;
	__u64 now, clock, old, new = 0;
	struct tcpwait_hold *hold;
	struct tcpwait_head next;

	if (!tcpwait_is_new(skb, nxt, first))
		return;
	hold = bpf_sk_storage_get(&tcpwait_holds, (void *)sk, NULL,
				  queued > 1 || fq ? BPF_SK_STORAGE_GET_F_CREATE : 0);
	if (!hold || hold->sent == nxt)
		return;
	now = bpf_ktime_get_ns();
	clock = PLAIN(tp, tcp_clock_cache);
	if (queued > 1) {
		tcpwait_head_read(&next, PLAIN(first, next), queued == 2);
		new = tcpwait_why(plain, &next, first);
		if (new)
			new |= now << HELD_BITS;
	}
	old = __sync_lock_test_and_set(&hold->state, new);
	if (old && hold->from == nxt && hold->clock != clock)
		tcpwait_ended(plain, old, now, PLAIN(first, len));
	hold->sent = nxt;
	hold->from = PLAIN(CB(first), end_seq);
	hold->clock = clock;
	if (fq)
		tcpwait_departs(plain, hold, skb, now, PLAIN(first, len));
}

/* It is closed: what is held now is never sent. */
static __always_inline void tcpwait_closed(const struct sock *sk, const struct sock *plain)
{
	struct tcpwait_hold *hold = bpf_sk_storage_get(&tcpwait_holds, (void *)sk, NULL, 0);
	__u64 old = hold ? __sync_lock_test_and_set(&hold->state, 0) : 0;

	if (old)
		tcpwait_ended(plain, old, bpf_ktime_get_ns(), 0);
}

/* Every packet of the machine comes here; most are of no socket, or acknowledge and carry none. */
SEC("tp_btf/net_dev_queue")
int BPF_PROG(tcpwait_sent, struct sk_buff *skb)
{
	struct sock *sk = skb->sk;
	const struct sock___wait *more;

	if (!sk)
		return 0;
	more = (const void *)ARGUMENT(sk);
	if (PLAIN(ARGUMENT(sk), sk_protocol) != IPPROTO_TCP ||
	    !PLAIN(more, sk_write_queue.qlen) || !tcp_is_ours(ARGUMENT(sk)))
		return 0;
	tcpwait_leaves(sk, ARGUMENT(skb));
	return 0;
}

/* Before the kernel looks at what came; it sets its clock after this event. */
SEC("tp_btf/tcp_probe")
int BPF_PROG(tcpwait_heard, struct sock *sk)
{
	const struct sock *plain = ARGUMENT(sk);
	const struct tcp_sock___wait *tp = (const void *)plain;
	const struct sock___wait *more = (const void *)plain;

	if (PLAIN(more, sk_write_queue.qlen) && tcp_is_ours(plain))
		tcpwait_look(sk, plain, PLAIN(tp, tcp_clock_cache));
	return 0;
}

static __always_inline int tcpwait_wrote(struct sock *sk)
{
	const struct sock *plain = ARGUMENT(sk);
	const struct sock___wait *more = (const void *)plain;

	if (PLAIN(plain, sk_protocol) == IPPROTO_TCP && PLAIN(more, sk_write_queue.qlen) &&
	    tcp_is_ours(plain))
		tcpwait_look(sk, plain, bpf_ktime_get_ns());
	return 0;
}

/* At the end of each call that writes to a socket: since 6.3. */
SEC("?tp_btf/sock_send_length")
int BPF_PROG(tcpwait_written, struct sock *sk)
{
	return tcpwait_wrote(sk);
}

SEC("?fexit/tcp_sendmsg")
int BPF_PROG(tcpwait_written__fexit, struct sock *sk)
{
	return tcpwait_wrote(sk);
}

#endif
