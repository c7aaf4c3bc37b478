/* SPDX-License-Identifier: GPL-2.0 */
/* Timers of TCP that run out, and connections that begin to wait for the last segments. */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct timer_list {
	void *function;
};

struct inet_timewait_sock {
	struct sock_common __tw_common;
	volatile unsigned char tw_substate;
};

struct sock___timers {
	struct timer_list sk_timer, tcp_retransmit_timer;
};

struct inet_connection_sock___timers {
	struct timer_list icsk_retransmit_timer, icsk_delack_timer, icsk_keepalive_timer;
	__u8 icsk_probes_out;
	struct {
		__u8 pending;
	} icsk_ack;
};

struct tcp_sock___timers {
	__u32 write_seq, snd_nxt, snd_una, snd_wnd;
	__u8 compressed_ack;
};

#pragma clang attribute pop

#define ICSK_ACK_SCHED	1	/* of enum inet_csk_ack_state_t, the same since 2.6 */
#define ICSK_ACK_TIMER	2

/* Where the kernel has its functions of these timers; 0: nobody asks for them. */
const volatile __u64 timer_functions[NR_TCP_TIMERS] = {};

/* What was before a function or a timer ran, by the address of what it is about. */
struct before {
	__u64 sk;
	__u32 timer;		/* enum tcp_timer */
	__u8 probes_out;
	__u8 ack_due;		/* a delayed ACK waits for its timer */
	__u8 unused[2];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, struct before);
} befores SEC(".maps");

static __always_inline void before_keep(const void *of, const struct before *b)
{
	__u64 key = (__u64)of;

	if (bpf_map_update_elem(&befores, &key, b, BPF_ANY))
		lose(LOST_CALL);
}

/* False: nothing was kept. */
static __always_inline bool before_take(const void *of, struct before *b)
{
	__u64 key = (__u64)of;
	const struct before *kept = bpf_map_lookup_elem(&befores, &key);

	if (!kept)
		return false;
	*b = *kept;
	return !bpf_map_delete_elem(&befores, &key);
}

static __always_inline __u8 ack_state(const struct sock *sk)
{
	return BPF_CORE_READ((const struct inet_connection_sock___timers *)sk, icsk_ack.pending);
}

/* Will the timer send an ACK, unless it finds that it is too early? Not one that SACK put off. */
static __always_inline bool ack_due(const struct sock *sk)
{
	__u8 state = BPF_CORE_READ(sk, __sk_common.skc_state);
	__u8 both = ICSK_ACK_SCHED | ICSK_ACK_TIMER;

	return state != TCP_CLOSE && state != TCP_LISTEN && (ack_state(sk) & both) == both &&
	       !BPF_CORE_READ((const struct tcp_sock___timers *)sk, compressed_ack);
}

static __always_inline struct probe_event *timer_event(const struct sock *sk, __u64 cookie,
						       bool preemptible)
{
	struct probe_event *e = socket_event(sk, cookie, preemptible);

	if (e)
		sent_as(e);
	return e;
}

/*
 * Called for keepalive, when all was sent and acknowledged, and for probes, when something waits
 * for the window.
 */
SEC("?fentry/tcp_write_wakeup")
int BPF_PROG(fn_keepalive, struct sock *sk)
{
	const struct tcp_sock___timers *tp = (void *)sk;
	struct probe_event *e;

	if (BPF_CORE_READ(tp, write_seq) != BPF_CORE_READ(tp, snd_nxt))
		return 0;
	e = timer_event(ARGUMENT(sk), NEED(CID) ? bpf_get_socket_cookie(sk) : 0, PREEMPTIBLE);
	if (!e)
		return 0;
	FIRE(e, fn_keepalive, tcp_timeout_keepalive);
	event_end(e);
	return 0;
}

/* Where the window has room for less than was to be sent, that is sent: it asks nothing. */
SEC("?fentry/tcp_send_probe0")
int BPF_PROG(fn_probe, struct sock *sk)
{
	const struct tcp_sock___timers *tp = (void *)sk;
	__u32 window_end = BPF_CORE_READ(tp, snd_una) + BPF_CORE_READ(tp, snd_wnd);
	struct probe_event *e;

	if ((__s32)(window_end - BPF_CORE_READ(tp, snd_nxt)) > 0)
		return 0;
	e = timer_event(ARGUMENT(sk), NEED(CID) ? bpf_get_socket_cookie(sk) : 0, PREEMPTIBLE);
	if (!e)
		return 0;
	FIRE(e, fn_probe, tcp_timeout_probe);
	event_end(e);
	return 0;
}

SEC("?fentry/tcp_delack_timer_handler")
int BPF_PROG(fn_delack__begin, struct sock *sk)
{
	struct before b = {};

	if (ack_due(sk))
		before_keep(sk, &b);
	return 0;
}

/* It is done, and does not wait for its timer any more: so the ACK was sent. */
SEC("?fexit/tcp_delack_timer_handler")
int BPF_PROG(fn_delack, struct sock *sk)
{
	struct before b = {};
	struct probe_event *e;

	if (!before_take(sk, &b) || ack_state(sk) & ICSK_ACK_TIMER)
		return 0;
	e = timer_event(ARGUMENT(sk), NEED(CID) ? bpf_get_socket_cookie(sk) : 0, PREEMPTIBLE);
	if (!e)
		return 0;
	FIRE(e, fn_delack, tcp_timeout_delack);
	event_end(e);
	return 0;
}

#define AT(timer, type, member)	\
	((const struct sock *)((void *)(timer) - bpf_core_field_offset(type, member)))

/* The socket of a timer of TCP. A member was moved by fixes of 6.1 and 6.12, too, and by 7.0. */
static __always_inline const struct sock *timer_socket(const struct timer_list *timer, __u32 which)
{
	const struct inet_connection_sock___timers *icsk = NULL;

	switch (which) {
	case TIMER_DELACK:
		return AT(timer, struct inet_connection_sock___timers, icsk_delack_timer);
	case TIMER_WRITE:
		return bpf_core_field_exists(icsk->icsk_retransmit_timer) ?
		       AT(timer, struct inet_connection_sock___timers, icsk_retransmit_timer) :
		       AT(timer, struct sock___timers, tcp_retransmit_timer);
	default:
		return bpf_core_field_exists(icsk->icsk_keepalive_timer) ?
		       AT(timer, struct inet_connection_sock___timers, icsk_keepalive_timer) :
		       AT(timer, struct sock___timers, sk_timer);
	}
}

static __always_inline __u8 probes_out(const struct sock *sk)
{
	return BPF_CORE_READ((const struct inet_connection_sock___timers *)sk, icsk_probes_out);
}

/* Not a probe: keeps what was before a timer of TCP ran. */
SEC("tp_btf/timer_expire_entry")
int BPF_PROG(timer_expire_entry, struct timer_list *timer)
{
	__u64 function = (__u64)ARGUMENT(timer)->function;
	struct before b = {};
	const struct sock *sk;

	for (b.timer = 0; b.timer < NR_TCP_TIMERS; b.timer++)
		if (function == timer_functions[b.timer])
			break;
	if (b.timer == NR_TCP_TIMERS)
		return 0;
	sk = timer_socket(timer, b.timer);
	b.sk = (__u64)sk;
	b.probes_out = probes_out(sk);
	b.ack_due = ack_due(sk);
	before_keep(timer, &b);
	return 0;
}

/* A timer has run: the socket tells by what it was, and is, what was done. */
SEC("tp_btf/timer_expire_exit")
int BPF_PROG(timer_expire_exit, struct timer_list *timer)
{
	struct before b = {};
	const struct sock *sk;
	struct probe_event *e;
	bool probed, acked;

	if (!before_take(timer, &b))
		return 0;
	sk = (void *)b.sk;
	probed = probes_out(sk) > b.probes_out;
	acked = b.ack_due && !(ack_state(sk) & ICSK_ACK_TIMER);
	if (b.timer == TIMER_DELACK ? !acked : !probed)
		return 0;
	e = timer_event(sk, 0, TRACEPOINT);
	if (!e)
		return 0;
	if (b.timer == TIMER_KEEPALIVE)
		FIRE(e, timer_expire_exit, tcp_timeout_keepalive);
	else if (b.timer == TIMER_WRITE)
		FIRE(e, timer_expire_exit, tcp_timeout_probe);
	else
		FIRE(e, timer_expire_exit, tcp_timeout_delack);
	event_end(e);
	return 0;
}

/* A connection is now TIME_WAIT. */
static __always_inline int time_waits(const struct sock *sk, __u64 cookie, __u8 from)
{
	struct probe_event *e = socket_event(sk, cookie, PREEMPTIBLE);

	if (!e)
		return 0;
	e->tcps_state = TCP_TIME_WAIT;
	e->tcpls_state = from;
	e->tcpls_inferred = 0;
	e->sk_err = 0;
	e->have |= HAVE(TCPLS);
	FIRE(e, fn_time_wait, tcp_state_change);
	event_end(e);
	return 0;
}

/* A small socket takes over from a full one, if there is room: in TIME_WAIT or still FIN_WAIT2. */
SEC("?fexit/inet_twsk_alloc")
int BPF_PROG(fn_time_wait, struct sock *sk, void *row, int state,
	     const struct inet_timewait_sock *waits)
{
	if (!waits || state != TCP_TIME_WAIT || PLAIN(sk, sk_protocol) != IPPROTO_TCP)
		return 0;
	return time_waits(ARGUMENT(sk), NEED(CID) ? bpf_get_socket_cookie(sk) : 0,
			  PLAIN(sk, __sk_common.skc_state));
}

/* The small socket goes from FIN_WAIT2 to TIME_WAIT when the FIN of the other end comes. */
SEC("?fentry/tcp_timewait_state_process")
int BPF_PROG(fn_time_wait__begin, const struct inet_timewait_sock *waits)
{
	struct before b = {};

	if (BPF_CORE_READ(waits, tw_substate) == TCP_FIN_WAIT2)
		before_keep(waits, &b);
	return 0;
}

SEC("?fexit/tcp_timewait_state_process")
int BPF_PROG(fn_time_wait__end, const struct inet_timewait_sock *waits)
{
	struct before b = {};

	if (!before_take(waits, &b) || BPF_CORE_READ(waits, tw_substate) != TCP_TIME_WAIT)
		return 0;
	return time_waits((const struct sock *)waits, 0, TCP_FIN_WAIT2);
}
