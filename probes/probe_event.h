/* SPDX-License-Identifier: GPL-2.0 */
/* An event that a stable probe reports: one flat struct, whose layout only grows. */
#ifndef NICPROBE_PROBES_EVENT_H
#define NICPROBE_PROBES_EVENT_H

#include <linux/types.h>

/*
 * Every stable probe: provider, and name with "_" for "-". New ones come last in this list, so that
 * numbers in recordings keep their meaning.
 */
#define STABLE_PROBES(P)							\
	P(nic, rx_poll) P(nic, rx_packet) P(nic, rx_stack) P(nic, rx_drop)	\
	P(nic, tx_queue) P(nic, tx_start) P(nic, tx_busy) P(nic, tx_done)	\
	P(nic, xdp_redirect) P(nic, xdp_exception)			\
	P(arp, send) P(arp, receive)						\
	P(icmp, send) P(icmp, receive)						\
	P(ip, send) P(ip, receive) P(ip, drop_in) P(ip, drop_out)		\
	P(tcp, send) P(tcp, receive)						\
	P(tcp, connect_request) P(tcp, connect_established) P(tcp, connect_refused) \
	P(tcp, accept_established) P(tcp, accept_refused)			\
	P(tcp, state_change) P(tcp, retransmit) P(tcp, retransmit_synack)	\
	P(tcp, timeout_rto)							\
	P(udp, send) P(udp, receive) P(udp, drop)				\
	P(socket, send) P(socket, receive)					\
	P(syscall, entry) P(syscall, return)					\
	P(socket, connect) P(socket, accept) P(socket, bind) P(socket, listen)	\
	P(socket, close)					\
	P(ip, request) P(ip, deliver) P(ip, packet_free)			\
	P(sctp, send) P(sctp, receive)						\
	P(sdt, ip4_physical_in_start) P(sdt, ip4_physical_in_end)		\
	P(sdt, ip4_physical_out_start) P(sdt, ip4_physical_out_end)		\
	P(sdt, ip4_forwarding_start) P(sdt, ip4_forwarding_end)		\
	P(sdt, ip4_loopback_in_start) P(sdt, ip4_loopback_in_end)		\
	P(sdt, ip4_loopback_out_start) P(sdt, ip4_loopback_out_end)		\
	P(sdt, ip6_physical_in_start) P(sdt, ip6_physical_in_end)		\
	P(sdt, ip6_physical_out_start) P(sdt, ip6_physical_out_end)		\
	P(sdt, ip6_forwarding_start) P(sdt, ip6_forwarding_end)		\
	P(sdt, ip6_loopback_in_start) P(sdt, ip6_loopback_in_end)		\
	P(sdt, ip6_loopback_out_start) P(sdt, ip6_loopback_out_end)		\
	P(nic, irq) P(nic, link) P(nic, tx_stop) P(nic, tx_wake)	\
	P(fbt, entry) P(fbt, return) P(sdt, event)				\
	P(tcp, timeout_keepalive) P(tcp, timeout_probe) P(tcp, timeout_delack)

enum stable_probe {
#define P(provider, name) PROBE_##provider##_##name,
	STABLE_PROBES(P)
#undef P
	NR_STABLE_PROBES
};

_Static_assert(NR_STABLE_PROBES <= 128, "struct query and probe_set have a bit for each");

/* Where events are seen: a BPF program each, of this name. sources.c describes them. */
#define SOURCES(S)								\
	S(net_dev_queue) S(net_dev_start_xmit) S(net_dev_xmit)			\
	S(netif_receive_skb) S(driver_delivers) S(kfree_skb) S(consume_skb)	\
	S(napi_poll) S(xdp_exception) S(xdp_redirect)				\
	S(inet_sock_set_state) S(tcp_send_reset) S(tcp_receive_reset)		\
	S(tcp_retransmit_skb) S(tcp_retransmit_synack) S(tcp_cong_state_set)	\
	S(udp_fail_queue_rcv_skb) S(sock_send_length) S(sock_recv_length)	\
	S(nf_post_routing) S(nf_local_in) S(cgroup_ingress) S(sock_ops)		\
	S(sock_create) S(syscall_enter) S(syscall_exit)				\
	S(socket_enter) S(socket_exit) S(sock_release)					\
	S(nf_pre_first) S(nf_pre_last) S(nf_forward_first) S(nf_forward_last)	\
	S(nf_post_first) S(nf_local_out) S(irq_handler_exit) S(rtnetlink)	\
	S(fbt_enter) S(fbt_exit) S(sdt_event)					\
	S(fn_ip_output) S(fn_ip_input) S(fn_udp_input) S(fn_sendmsg) S(fn_recvmsg)	\
	S(fn_close) S(fn_time_wait) S(fn_keepalive) S(fn_probe) S(fn_delack)	\
	S(timer_expire_entry) S(timer_expire_exit)

enum source {
#define S(name) SOURCE_##name,
	SOURCES(S)
#undef S
	NR_SOURCES
};

/* What identifies an event of fbt or sdt: the kind, and a number of the list of spots. */
#define RAW_PROBE(probe, spot)	((probe) | ((spot) + 1) << 8)
#define RAW_SPOT(probe)		(((probe) >> 8) - 1)
#define RAW_IS(probe)		((probe) >> 8)
#define RAW_FUNCTION		0x80000000u

/* Members that are filled together: an event has all of a group, or none. ARGS was all of arg[]. */
#define EVENT_GROUPS(G)								\
	G(BASE) G(PROC) G(PKT) G(CS) G(IF) G(QUEUE) G(ETH) G(ADDR) G(IP) G(IPV4)	\
	G(IPV6)									\
	G(PORTS) G(TCP) G(TCPS) G(TCPLS) G(ENDS) G(UDP) G(ICMP) G(ARP) G(SOCK)		\
	G(DROP) G(NAPI) G(RESULT) G(ARGS) G(RETVAL) G(SINCE)			\
	G(TCPPORTS) G(TCPENDS) G(UDPENDS) G(CALL) G(DONE) G(CID) G(STATE)	\
	G(FAR) G(SOFLAGS) G(SORET)					\
	G(SCTP) G(IRQ) G(LINK) G(STOP) G(WAKE)					\
	G(ARG0) G(ARG1) G(ARG2) G(ARG3) G(ARG4) G(ARG5)			\
	G(MODULE) G(KSTACK) G(USTACK)

enum event_group {
#define G(name) GROUP_##name,
	EVENT_GROUPS(G)
#undef G
	NR_GROUPS
};

_Static_assert(NR_GROUPS <= 64, "event.have has a bit for each");

/* An address as struct in6_addr; IPv4 is mapped: ::ffff:10.0.0.1. */
struct probe_address {
	__u8 bytes[16];
} __attribute__((aligned(8)));	/* programs compare it by halves */

/*
 * Numbers are in host byte order. Offsets never change: new members are added at the end
 * (tests/golden/event.txt). fields.c names, describes and groups every member.
 */
struct probe_event {
	/* BASE */
	__u64 timestamp;	/* ns, CLOCK_MONOTONIC */
	__u64 netns;		/* cookie of the network namespace; 0: of none */
	__u64 have;		/* 1 << GROUP_x of the groups that are filled */
	__u32 probe;		/* enum stable_probe; of fbt and sdt: RAW_PROBE() */
	__u32 cpu;
	__u16 source;		/* enum source */
	__u8 place, filtered;	/* only for the program: where it is made, and whether it passed */
	/* PROC: only where a task of its own makes the event happen */
	__u32 pid, tid, uid;
	char execname[16];
	/* PKT */
	__u64 pkt_addr;		/* of the sk_buff */
	__u32 pkt_len;		/* bytes, with the Ethernet header at every point */
	__u32 pkt_segs;		/* wire packets in this buffer */
	/* CS */
	__u64 cs_addr;		/* of the socket */
	__u64 cs_cid;		/* CID: its cookie */
	/* IF */
	char if_name[16];
	__u32 if_index;
	__u8 if_local;		/* the loopback interface */
	__u8 ip_ver;		/* ADDR */
	__u16 if_queue;		/* QUEUE */
	/* ETH */
	__u8 eth_dst[6], eth_src[6];
	__u16 eth_type;
	__u8 eth_istagged, eth_priority;
	__u16 eth_vlanid;
	__u16 sport, dport;	/* PORTS; TCPPORTS: they are of TCP */
	__u16 if_proto;		/* PKT: skb->protocol */
	/* IP */
	__u32 ip_plength;	/* bytes after the IP header; extension headers of IPv6 count */
	struct probe_address ip_saddr, ip_daddr;	/* ADDR: also of events without header */
	/* IPV4 */
	__u8 ipv4_ihl, ipv4_tos, ipv4_ttl, ipv4_protocol;	/* ihl in bytes */
	__u16 ipv4_length, ipv4_ident, ipv4_offset, ipv4_checksum;	/* offset in 8 bytes */
	__u8 ipv4_flags;	/* 4: DF, 2: MF */
	__u8 ip_ecn;		/* IP: the two ECN bits of either version */
	/* IPV6 */
	__u8 ipv6_tclass, ipv6_nexthdr, ipv6_hlim;
	__u8 ip_proto;		/* IP: the transport, behind extension headers */
	__u16 ipv6_plen;
	__u32 ipv6_flow;
	/* TCP */
	__u32 tcp_seq, tcp_ack;
	__u16 tcp_window, tcp_checksum, tcp_urgent;
	__u8 tcp_offset, tcp_flags;	/* offset in bytes */
	__u32 tcp_plength;	/* bytes of data */
	/* TCPS: of the socket */
	__u32 tcps_suna, tcps_snxt, tcps_rnxt, tcps_swnd, tcps_rwnd;
	__u32 tcps_cwnd, tcps_ssthresh, tcps_mss, tcps_rtt, tcps_rttvar;	/* times in us */
	__u32 tcps_retransmits, tcps_total_retrans;
	/* of ENDS, TCPENDS and UDPENDS: of the socket; FAR: the other end, where there is one */
	struct probe_address laddr, raddr;
	__u16 lport, rport;	/* the same */
	__u8 tcps_state;	/* STATE: also of what is not a full socket */
	__u8 tcps_ca_state;	/* TCPS */
	__u8 tcpls_state;	/* TCPLS: the state before */
	__u8 tcpls_inferred;	/* TCPLS: concluded from others; no tracepoint has it */
	__u32 sk_err;		/* TCPLS */
	/* UDP, ICMP, ARP */
	__u16 udp_length, udp_checksum;
	__u8 icmp_type, icmp_code;
	__u16 icmp_checksum, icmp_echo_id, icmp_echo_seq;
	__u16 arp_op;
	__u8 arp_sha[6], arp_tha[6];
	struct probe_address arp_spa, arp_tpa;
	/* SOCK */
	__u16 so_family, so_type, so_protocol, so_unused;
	__u32 so_flags;		/* SOFLAGS */
	__s32 rc;		/* RESULT: what a function returned: NETDEV_TX_BUSY, -ENOMEM */
	__s64 so_ret;		/* SORET: bytes, a file descriptor, or -errno */
	/* DROP */
	__u64 drop_loc;		/* address in the kernel */
	__u32 drop_reason;
	__u32 napi_id;		/* NAPI */
	__u32 napi_work, napi_budget;
	__s64 arg[6];		/* ARG0 to ARG5: those that the call has */
	__s64 retval;		/* RETVAL */
	__u32 syscall;		/* CALL: its number; of fbt: RAW_FUNCTION | that of the function */
	__u32 failure;		/* RETVAL: the errno; 0: none */
	__u64 delta_ns;		/* SINCE */
	__u64 tx_ns;		/* DONE: since the driver took the packet */
	/* SCTP */
	__u32 sctp_verify, sctp_checksum;
	__u8 sctp_chunk;	/* type of the first one */
	__u8 link_up;		/* LINK */
	__u8 stop_by;		/* STOP: enum stopper */
	/* IRQ */
	__u32 irq;
	char irq_name[16], irq_serves[16];
	__u64 stop_ns;		/* WAKE: since it was stopped */
	__u32 module;		/* MODULE: a number of struct raw_spot */
	__u32 kstack;		/* KSTACK: a number of the map of stacks */
	__u64 ustack;		/* USTACK: the same, and the process << 32 */
	__u8 begins;		/* only for the program: of fbt and sdt, named by --since */
	__u8 stack_lost;	/* the same: there was no room for its stack */
	__u16 raw_unused;
	__u32 raw_unused2;
};

_Static_assert(sizeof(struct probe_event) <= 640, "it is copied into the ring buffer as a whole");

#endif
