/* SPDX-License-Identifier: GPL-2.0 */
/* The host's meters: one program per kernel event; for each packet only on request. */
#define TOLD_CALLS
#include "bpf/accept/accept.bpf.h"
#include "bpf/connect/connect.bpf.h"
#include "bpf/dns/dns.bpf.h"
#include "bpf/dnsname/dnsname.bpf.h"
#include "bpf/fdpass/fdpass.bpf.h"
#include "bpf/firstbyte/firstbyte.bpf.h"
#include "bpf/host/life.bpf.h"
#include "bpf/icmp/icmp.bpf.h"
#include "bpf/neigh/neigh.bpf.h"
#include "bpf/session/session.bpf.h"
#include "bpf/sock/sock.bpf.h"
#include "bpf/socklife/socklife.bpf.h"
#include "bpf/tcp/tcp.bpf.h"
#include "bpf/tcpwait/tcpwait.bpf.h"

volatile __u64 off SEC(".data.off");	/* 1 << METER_x of those removed: lib/attach/set.c */

static __always_inline bool on(enum meter_id id)
{
	return meter_on(id) && !(off & 1ull << id);
}

static __always_inline void attempt_ended(const struct sock *plain, const struct socket_life *life,
					  bool established, __u64 now)
{
	if (on(METER_connect))
		connect_ended(plain, life, established, now);
}

static __always_inline void came(const struct sock *sk, const struct sock *plain)
{
	if (on(METER_accept))
		accept_came(plain, life_begin(sk));
}

static __always_inline void connected(const struct sock *plain, struct socket_life *life,
				      __u64 asked)
{
	if (on(METER_firstbyte))
		firstbyte_awaited(plain, life, asked);
}

static __always_inline void accepted(const struct sock *sk, const struct sock *plain,
				     const struct socket_life *life)
{
	if (on(METER_accept))
		accept_queued(plain, life);
}

static __always_inline void connection_ended(const struct sock *plain, struct socket_life *life,
					     int old, __u64 now)
{
	if (on(METER_session))
		session_ended(plain, life, old, now);
	if (on(METER_tcp))
		tcp_ended(plain, life);
	if (on(METER_firstbyte))
		firstbyte_ended(plain, life);
}

static __always_inline int state_changed(const struct sock *sk, int old, int new, bool again)
{
	const struct sock *plain = ARGUMENT(sk);

	if (!tcp_is_ours(plain) || !mine(sk, again))
		return 0;
	life_follow(sk, plain, old, new);
	if (new == TCP_CLOSE && on(METER_tcpwait))
		tcpwait_closed(sk, plain);
	return 0;
}

static __always_inline int sent_again(const struct sock *sk, const struct sk_buff *skb, bool again)
{
	const struct sock *plain = ARGUMENT(sk);
	struct socket_life *life;

	if (!tcp_is_ours(plain) || !mine(sk, again))
		return 0;
	life = life_of(sk);
	if (on(METER_tcp))
		tcp_again(plain, life, ARGUMENT(skb));
	if (on(METER_connect) && life && life->asked &&
	    PLAIN(plain, __sk_common.skc_state) == TCP_SYN_SENT)
		connect_again(plain, life);
	return 0;
}

/*
 * A softirq that interrupts one of these in a task may bring the same event of another socket: of
 * two copies one counts it (bpf/common/again.bpf.h).
 */
SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(inet_sock_set_state, const struct sock *sk, int old, int new)
{
	return state_changed(sk, old, new, false);
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(inet_sock_set_state_again, const struct sock *sk, int old, int new)
{
	return state_changed(sk, old, new, true);
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(tcp_retransmit_skb, const struct sock *sk, const struct sk_buff *skb)
{
	return sent_again(sk, skb, false);
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(tcp_retransmit_skb_again, const struct sock *sk, const struct sk_buff *skb)
{
	return sent_again(sk, skb, true);
}

/* Its meter alone: tcp. */
SEC("tp_btf/tcp_retransmit_synack")
int BPF_PROG(tcp_synack_again, const struct sock *sk, const struct request_sock *req)
{
	struct remote remote;
	struct tcp *row;

	if (!tcp_is_ours(ARGUMENT(sk)))
		return 0;
	remote_of(&remote, (const void *)ARGUMENT(req));
	row = tcp_row_known(&remote);
	if (row)
		COUNT(row, again[TCP_AGAIN_SYNACK], 1);
	return 0;
}

SEC("tp_btf/tcp_receive_reset")
int BPF_PROG(tcp_reset_received, struct sock *sk)
{
	struct remote remote;

	if (!tcp_is_ours(ARGUMENT(sk)))
		return 0;
	remote_of(&remote, ARGUMENT(sk));
	tcp_reset(tcp_row(&remote), false);
	return 0;
}

/*
 * Answers `skb`; without one, this end gives a connection up. Up to 6.9 it is only told of a full
 * socket; later also where there is none, and of one in TIME_WAIT, or a request.
 */
SEC("tp_btf/tcp_send_reset")
int BPF_PROG(tcp_reset_sent, const struct sock *sk, const struct sk_buff *skb)
{
	const struct net_device *dev = skb ? PLAIN(ARGUMENT(skb), dev) : NULL;
	struct remote remote;

	if (sk) {
		if (!net_is_ours(PLAIN(ARGUMENT(sk), __sk_common.skc_net.net)))
			return 0;
		remote_of(&remote, ARGUMENT(sk));
	} else if (!dev || !net_is_ours(PLAIN(dev, nd_net.net)) ||
		   !remote_of_packet(&remote, ARGUMENT(skb))) {
		return 0;
	}
	tcp_reset(tcp_row_known(&remote), true);
	return 0;
}

/*
 * Its meter alone: accept. accept() calls it with the connection that it has taken from the queue
 * (sock_graft(), 6.1 to 6.18); connections of other protocols come here as well.
 */
SEC("?fentry/security_sock_graft")
int BPF_PROG(accept_grafted, const struct sock *sk)
{
	const struct sock *plain = ARGUMENT(sk);

	if (sk && tcp_is_ours(plain))
		accept_taken(plain, life_of(sk));
	return 0;
}

/* All system calls of the machine come here. */
SEC("?tp_btf/sys_exit")
int BPF_PROG(sys_exit, const struct pt_regs *regs, long ret)
{
	if (on(METER_sock))
		sock_called(regs, ret);
	if (on(METER_fdpass))
		fdpass_called(regs, ret);
	return 0;
}

static __always_inline void question_seen(const struct ip_packet *p)
{
	struct dns_packet q = {};

	if (!dns_read(&q, p))
		return;
	if (on(METER_dns))
		dns_packet(p, &q);
	if (on(METER_dnsname))
		dnsname_packet(p, &q);
}

/* Most packets are of no meter: they leave before what is behind IP is looked for. */
static __always_inline int packet_seen(const struct sk_buff *skb, const void *l3, bool received)
{
	struct ip_packet p;

	packet_begin(&p, skb, l3, received);
	if (p.ip.protocol == IPPROTO_UDP) {
		if ((on(METER_dns) || on(METER_dnsname)) && packet_behind(&p))
			question_seen(&p);
	} else if (p.ip.protocol == IPPROTO_ICMP || p.ip.protocol == IPPROTO_ICMPV6) {
		if (on(METER_icmp) && packet_behind(&p))
			icmp_packet(&p);
	}
	return 0;
}

SEC("tp_btf/net_dev_queue")
int BPF_PROG(packet_sent, const struct sk_buff *skb)
{
	const struct sk_buff *plain = ARGUMENT(skb);
	const struct net_device *dev = PLAIN(plain, dev);

	if (!net_is_ours(PLAIN(dev, nd_net.net)))
		return 0;
	return packet_seen(plain, PLAIN(plain, head) + PLAIN(plain, network_header), false);
}

/* Its network header is where its data begins (__netif_receive_skb_core(), 6.1 to 6.18). */
SEC("tp_btf/netif_receive_skb")
int BPF_PROG(packet_received, const struct sk_buff *skb)
{
	const struct sk_buff *plain = ARGUMENT(skb);
	const struct net_device *dev = PLAIN(plain, dev);

	if (!net_is_ours(PLAIN(dev, nd_net.net)))
		return 0;
	return packet_seen(plain, PLAIN(plain, data), true);
}

char LICENSE[] SEC("license") = "GPL";
