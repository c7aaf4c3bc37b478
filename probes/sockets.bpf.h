/* SPDX-License-Identifier: GPL-2.0 */
/* From a socket to the members of an event; and who makes the event happen. */
#ifndef NICPROBE_PROBES_SOCKETS_BPF_H
#define NICPROBE_PROBES_SOCKETS_BPF_H

#include "probes/peek.bpf.h"

#include "bpf/common/run_queue.bpf.h"

#define AF_INET		2
#define AF_INET6	10
#define SOCK_STREAM	1
#define TCP_SYN_SENT	2
#define TCP_SYN_RECV	3
#define TCP_FIN_WAIT2	5
#define TCP_TIME_WAIT	6
#define TCP_CLOSE	7
#define TCP_LISTEN	10
#define TCP_CLOSING	11
#define TCP_NEW_SYN_RECV 12

/* SOFTIRQ_OFFSET, HARDIRQ_MASK and NMI_MASK of include/linux/preempt.h, the same since 5.10 */
#define IN_INTERRUPT	(0x100 | 0x000f0000 | 0x00f00000)

/*
 * Is what happens now the doing of the current task? Not in an interrupt, where it is whoever was
 * there; and not where this kernel does not tell.
 */
static __always_inline bool task_does_it(void)
{
	__u32 count = IN_INTERRUPT;
	__u64 queue;

	if (bpf_core_field_exists(struct thread_info, preempt_count)) {
		const struct task_struct *task = (void *)bpf_get_current_task();

		return !(BPF_CORE_READ(task, thread_info.preempt_count) & IN_INTERRUPT);
	}
	queue = counts_preempts ? run_queue() : 0;
	if (queue)
		bpf_probe_read_kernel(&count, sizeof(count), (void *)(queue + preempt_count));
	return !(count & IN_INTERRUPT);
}

static __always_inline void task_fill(struct probe_event *e, __u64 now)
{
	const struct task_struct *task;

	if (!NOW(PROC) || !task_does_it())
		return;
	task = bpf_get_current_task_btf();
	e->pid = task->tgid;
	e->tid = task->pid;
	e->uid = task->cred->uid.val;
	__builtin_memcpy(e->execname, task->comm, sizeof(e->execname));
	e->have |= HAVE(PROC);
}

/* Is it a full socket, not a connection request or one in TIME_WAIT? */
static __always_inline bool socket_full(const struct sock *sk)
{
	__u8 state = PLAIN(sk, __sk_common.skc_state);

	return state != TCP_NEW_SYN_RECV && state != TCP_TIME_WAIT;
}

/* Is it more than the wildcard, 0.0.0.0 or ::? */
static __always_inline bool has_address(const struct probe_address *a)
{
	const __u32 *words = (void *)a->bytes;

	return words[0] | words[1] | words[3];
}

static __always_inline void ends_fill(struct probe_event *e, const struct sock *sk, bool full)
{
	const struct sock_common *c = &sk->__sk_common;
	__u16 family = PLAIN(c, skc_family), proto = full ? PLAIN(sk, sk_protocol) : IPPROTO_TCP;

	if (family != AF_INET && family != AF_INET6)
		return;
	if (family == AF_INET6) {
		bpf_probe_read_kernel(&e->laddr, sizeof(e->laddr), &c->skc_v6_rcv_saddr);
		bpf_probe_read_kernel(&e->raddr, sizeof(e->raddr), &c->skc_v6_daddr);
	} else {
		address_v4(&e->laddr, PLAIN(c, skc_rcv_saddr));
		address_v4(&e->raddr, PLAIN(c, skc_daddr));
	}
	/* skc_num is 0 already when a socket is closed (6.18) */
	e->lport = full ? bpf_ntohs(PLAIN((const struct inet_sock *)sk, inet_sport)) :
			  PLAIN(c, skc_num);
	e->rport = bpf_ntohs(PLAIN(c, skc_dport));
	e->tcps_state = PLAIN(c, skc_state);
	e->have |= HAVE(ENDS);
	/* TCP leaves the address of one that refused; raw sockets have no port */
	if (e->rport || (proto != IPPROTO_TCP && has_address(&e->raddr)))
		e->have |= HAVE(FAR);
	if (proto == IPPROTO_TCP)
		e->have |= HAVE(TCPENDS) | HAVE(STATE);
	else if (proto == IPPROTO_UDP)
		e->have |= HAVE(UDPENDS);
}

static __always_inline void tcps_fill(struct probe_event *e, const struct tcp_sock *tp)
{
	const struct inet_connection_sock *icsk = &tp->inet_conn;

	e->tcps_suna = PLAIN(tp, snd_una);
	e->tcps_snxt = PLAIN(tp, snd_nxt);
	e->tcps_rnxt = PLAIN(tp, rcv_nxt);
	e->tcps_swnd = PLAIN(tp, snd_wnd);
	e->tcps_rwnd = PLAIN(tp, rcv_wnd);
	e->tcps_cwnd = PLAIN(tp, snd_cwnd);
	e->tcps_ssthresh = PLAIN(tp, snd_ssthresh);
	e->tcps_mss = PLAIN(tp, mss_cache);
	e->tcps_rtt = PLAIN(tp, srtt_us) >> 3;
	e->tcps_rttvar = PLAIN(tp, mdev_us) >> 2;
	e->tcps_total_retrans = PLAIN(tp, total_retrans);
	e->tcps_retransmits = PLAIN(icsk, icsk_retransmits);
	e->tcps_ca_state = BPF_CORE_READ_BITFIELD_PROBED(icsk, icsk_ca_state);
	e->have |= HAVE(TCPS);
}

/* `cookie`: 0: it is the one that the socket has got from others, see sock_create(). */
static __always_inline void socket_fill(struct probe_event *e, const struct sock *sk, __u64 cookie,
					__u64 now)
{
	bool full;

	if (!sk || !NOW_ANY(HAVE(CS) | HAVE(CID) | HAVE(ENDS) | HAVE(TCPENDS) | HAVE(UDPENDS) |
			     HAVE(STATE) | HAVE(FAR) |
			     HAVE(TCPS)))
		return;
	full = socket_full(sk);
	e->cs_addr = (__u64)sk;
	e->cs_cid = cookie ?: PLAIN(sk, __sk_common.skc_cookie.counter);
	e->have |= HAVE(CS) | (e->cs_cid ? HAVE(CID) : 0);
	ends_fill(e, sk, full);
	if (full && NOW(TCPS) && PLAIN(sk, sk_protocol) == IPPROTO_TCP &&
	    PLAIN(sk, sk_type) == SOCK_STREAM)
		tcps_fill(e, (const struct tcp_sock *)sk);
}

static __always_inline __u8 version_of(const struct probe_address *a)
{
	const __u32 *words = (void *)a->bytes;

	return !words[0] && !words[1] && words[2] == bpf_htonl(0xffff) ? 4 : 6;
}

/*
 * The addresses and ports of what came to a socket, as the header of the packet would tell them:
 * from the other end to this one.
 */
static __always_inline void received_as(struct probe_event *e)
{
	e->ip_ver = version_of(&e->raddr);
	e->ip_saddr = e->raddr;
	e->ip_daddr = e->laddr;
	e->sport = e->rport;
	e->dport = e->lport;
	e->have |= HAVE(ADDR) | HAVE(PORTS) | HAVE(TCPPORTS);
}

#endif
