/* SPDX-License-Identifier: GPL-2.0 */
/* Which sources serve each stable probe, what they tell of its events, and how exactly. */
#include "probes/question.h"
#include "probes/source.h"

#define H(group)	(1ull << GROUP_##group)
#define HEADERS		(H(PKT) | H(IF) | H(ADDR) | H(IP) | H(IPV4) | H(IPV6) | H(PORTS) | \
			 H(TCPPORTS) | H(TCP) | H(UDP) | H(ICMP) | H(ARP) | H(ETH) | H(SCTP))
#define SOCKET		(H(CS) | H(CID) | H(ENDS) | H(TCPENDS) | H(UDPENDS) | H(TCPS) | \
			 H(STATE) | H(FAR))
#define OF_CALL		(SOCKET | H(PROC) | H(SOCK) | H(SORET) | H(RETVAL))
#define TRANSFER	(SOCKET | H(PROC) | H(SOCK) | H(SOFLAGS) | H(SORET))
#define OF_SOCKET	(SOCKET | H(ADDR) | H(PORTS) | H(TCPPORTS) | H(PROC))
#define ARGUMENTS	(H(ARG0) | H(ARG1) | H(ARG2) | H(ARG3) | H(ARG4) | H(ARG5))
/* What calls stacks_fill(); a stack of the process needs one whose doing it is. */
#define HAS_STACKS(s)	((s) == SOURCE_net_dev_queue || (s) == SOURCE_net_dev_start_xmit ||	\
			 (s) == SOURCE_net_dev_xmit || (s) == SOURCE_netif_receive_skb ||	\
			 (s) == SOURCE_driver_delivers || (s) == SOURCE_kfree_skb ||		\
			 (s) == SOURCE_syscall_enter || (s) == SOURCE_syscall_exit ||		\
			 (s) == SOURCE_fbt_enter || (s) == SOURCE_fbt_exit ||			\
			 (s) == SOURCE_sdt_event || (s) == SOURCE_fn_ip_output ||		\
			 (s) == SOURCE_fn_ip_input || (s) == SOURCE_fn_udp_input ||		\
			 (s) == SOURCE_fn_sendmsg || (s) == SOURCE_fn_recvmsg ||		\
			 (s) == SOURCE_fn_close)
#define STACKS_OF(s, what)	(!HAS_STACKS(s) ? 0 :					\
				 H(KSTACK) | ((what) & H(PROC) ? H(USTACK) : 0))
#define REFUSAL		(H(IF) | H(ADDR) | H(IP) | H(PORTS) | H(TCPPORTS) | H(TCP))

const char *const grade_names[] = {
	[EXACT] = "exact", [NEAR] = "near", [OVER] = "counts too much", [UNDER] = "misses some",
};

#define SERVE(p, s, g, what, ...) \
	{ .probe = PROBE_##p, .source = SOURCE_##s, .grade = g,			\
	  .groups = (what) | STACKS_OF(SOURCE_##s, what), ##__VA_ARGS__ }
/* The ways of a packet through netfilter: before the first rule, and behind the last. */
#define WAYS(v, o)									\
	SERVE(sdt_##v##_physical_in_start, nf_pre_first, EXACT, COMES & ~(o), PIECES),	\
	SERVE(sdt_##v##_physical_in_end, nf_pre_last, EXACT, COMES & ~(o), PIECES),	\
	SERVE(sdt_##v##_physical_out_start, nf_post_first, EXACT, LEAVES & ~(o)),	\
	SERVE(sdt_##v##_physical_out_end, nf_post_routing, EXACT, LEAVES & ~(o)),	\
	SERVE(sdt_##v##_forwarding_start, nf_forward_first, EXACT, COMES & ~(o)),	\
	SERVE(sdt_##v##_forwarding_end, nf_forward_last, EXACT, COMES & ~(o)),		\
	SERVE(sdt_##v##_loopback_in_start, nf_pre_first, EXACT, COMES & ~(o), PIECES),	\
	SERVE(sdt_##v##_loopback_in_end, nf_pre_last, EXACT, COMES & ~(o), PIECES),	\
	SERVE(sdt_##v##_loopback_out_start, nf_post_first, EXACT, LEAVES & ~(o)),	\
	SERVE(sdt_##v##_loopback_out_end, nf_post_routing, EXACT, LEAVES & ~(o))
#define COMES		((HEADERS | H(QUEUE)) & ~H(ARP))
#define LEAVES		((HEADERS | SOCKET | H(PROC)) & ~H(ARP))
#define PIECES		"Where connection tracking is on, fragments count one by one at the " \
			"start, and at the end once they are put together."
#define PORT_AGAIN	"Packets that this host forwards count, and those of a closed port."

#define PIECES6		"Fragments of IPv6 count one by one, unless connection tracking is on: " \
			"it puts them together before."
#define OF_TIMER	(OF_SOCKET & ~H(PROC))
#define TIMER_LATER	"A timer that finds a process at work on the socket does its work " \
			"later: it does not count."

#define FAMILIES	"Sockets of other families than IPv4, IPv6, Unix, netlink and packet " \
			"do not count."

#define NO_CALL \
	"What io_uring does is no system call, and does not count; nor do calls of 32-bit " \
	"programs. A call that a signal interrupts counts when it is begun again, too."

/* For each probe the best source first; facts from Linux 6.1, 6.12 and 6.18. */
const struct serving servings[] = {
	SERVE(nic_rx_poll, napi_poll, EXACT, H(IF) | H(NAPI)),
	SERVE(nic_rx_packet, driver_delivers, EXACT, HEADERS | H(QUEUE)),
	SERVE(nic_rx_stack, netif_receive_skb, EXACT, HEADERS | H(QUEUE)),
	SERVE(nic_rx_drop, kfree_skb, EXACT, HEADERS | H(DROP) | H(PROC)),
	SERVE(nic_tx_queue, net_dev_queue, EXACT, HEADERS | SOCKET | H(QUEUE) | H(PROC)),
	SERVE(nic_tx_start, net_dev_start_xmit, EXACT, HEADERS | SOCKET | H(QUEUE) | H(PROC)),
	SERVE(nic_tx_busy, net_dev_xmit, EXACT, HEADERS | SOCKET | H(QUEUE) | H(PROC) | H(RESULT)),
	SERVE(nic_tx_done, consume_skb, EXACT, HEADERS | SOCKET | H(QUEUE) | H(DONE),
	      "The driver is done when it frees the packet: an interrupt that it delays counts, "
	      "and so does a packet that it drops. "
	      "A driver that passes it on, as veth does, is never done."),
	SERVE(nic_xdp_redirect, xdp_redirect, EXACT, H(IF) | H(RESULT)),
	SERVE(nic_xdp_exception, xdp_exception, EXACT, H(IF) | H(RESULT)),
	SERVE(arp_send, net_dev_queue, EXACT, HEADERS | H(QUEUE) | H(PROC)),
	SERVE(arp_receive, netif_receive_skb, EXACT, HEADERS | H(QUEUE)),
	SERVE(icmp_send, nf_post_routing, EXACT, HEADERS | SOCKET | H(PROC)),
	SERVE(icmp_send, fn_ip_output, EXACT, HEADERS | SOCKET | H(PROC)),
	SERVE(icmp_send, net_dev_queue, NEAR, HEADERS | SOCKET | H(QUEUE) | H(PROC),
	      "Packets that wait for a neighbour count when they leave."),
	SERVE(icmp_receive, nf_local_in, EXACT, HEADERS | H(QUEUE)),
	SERVE(icmp_receive, fn_ip_input, EXACT, HEADERS | H(QUEUE)),
	SERVE(icmp_receive, netif_receive_skb, OVER, HEADERS | H(QUEUE),
	      "Packets that this host forwards count."),
	SERVE(ip_send, nf_post_routing, EXACT, HEADERS | SOCKET | H(PROC)),
	SERVE(ip_send, fn_ip_output, EXACT, HEADERS | SOCKET | H(PROC)),
	SERVE(ip_send, net_dev_queue, NEAR, HEADERS | SOCKET | H(QUEUE) | H(PROC),
	      "Fragments count one by one, and packets that wait for a neighbour when they leave."),
	SERVE(ip_receive, nf_local_in, EXACT, HEADERS | H(QUEUE), PIECES6),
	SERVE(ip_receive, fn_ip_input, EXACT, HEADERS | H(QUEUE)),
	SERVE(ip_receive, netif_receive_skb, OVER, HEADERS | H(QUEUE),
	      "Fragments count one by one, and packets that this host forwards."),
	SERVE(ip_drop_in, kfree_skb, NEAR, HEADERS | H(DROP) | H(PROC),
	      "Normal operation frees some packets so: the reason tells."),
	SERVE(ip_drop_out, kfree_skb, NEAR, HEADERS | H(DROP) | H(PROC),
	      "Normal operation frees some packets so: the reason tells."),
	SERVE(tcp_send, nf_post_routing, EXACT, HEADERS | SOCKET | H(PROC)),
	SERVE(tcp_send, fn_ip_output, EXACT, HEADERS | SOCKET | H(PROC)),
	SERVE(tcp_send, net_dev_queue, NEAR, HEADERS | SOCKET | H(QUEUE) | H(PROC),
	      "Packets that wait for a neighbour count when they leave."),
	SERVE(tcp_receive, nf_local_in, EXACT, HEADERS | H(QUEUE)),
	SERVE(tcp_receive, fn_ip_input, EXACT, HEADERS | H(QUEUE)),
	SERVE(tcp_receive, cgroup_ingress, UNDER, HEADERS | SOCKET | H(QUEUE),
	      "Segments to a closed port or to a socket in TIME_WAIT do not count."),
	SERVE(tcp_receive, netif_receive_skb, OVER, HEADERS | H(QUEUE),
	      "Packets that this host forwards count."),
	SERVE(tcp_connect_request, nf_post_routing, EXACT, HEADERS | SOCKET | H(PROC)),
	SERVE(tcp_connect_request, fn_ip_output, EXACT, HEADERS | SOCKET | H(PROC)),
	SERVE(tcp_connect_request, net_dev_queue, EXACT, HEADERS | SOCKET | H(QUEUE) | H(PROC)),
	SERVE(tcp_connect_established, sock_ops, EXACT, OF_SOCKET | H(TCP)),
	SERVE(tcp_connect_established, inet_sock_set_state, EXACT, OF_SOCKET),
	SERVE(tcp_connect_refused, tcp_receive_reset, EXACT, OF_SOCKET),
	SERVE(tcp_accept_established, sock_ops, EXACT, OF_SOCKET | H(TCP)),
	SERVE(tcp_accept_established, inet_sock_set_state, EXACT, OF_SOCKET),
	SERVE(tcp_accept_refused, tcp_send_reset, EXACT, REFUSAL),
	SERVE(tcp_accept_refused, kfree_skb, EXACT, REFUSAL),
	SERVE(tcp_state_change, fn_time_wait, EXACT, OF_SOCKET | H(TCPLS)),
	SERVE(tcp_state_change, inet_sock_set_state, NEAR, OF_SOCKET | H(TCPLS),
	      "TIME_WAIT is inferred from what came before it."),
	SERVE(tcp_retransmit, tcp_retransmit_skb, EXACT, OF_SOCKET),
	SERVE(tcp_retransmit_synack, tcp_retransmit_synack, EXACT, OF_SOCKET),
	SERVE(tcp_timeout_rto, tcp_cong_state_set, NEAR, OF_SOCKET,
	      "A receiver that drops what it had acknowledged (SACK reneging) counts, too."),
	SERVE(udp_send, nf_post_routing, EXACT, HEADERS | SOCKET | H(PROC)),
	SERVE(udp_send, fn_ip_output, EXACT, HEADERS | SOCKET | H(PROC)),
	SERVE(udp_send, net_dev_queue, NEAR, HEADERS | SOCKET | H(QUEUE) | H(PROC),
	      "Fragments after the first do not count; packets that wait for a neighbour count "
	      "when they leave."),
	SERVE(udp_receive, cgroup_ingress, EXACT, HEADERS | SOCKET | H(QUEUE)),
	SERVE(udp_receive, fn_udp_input, EXACT, HEADERS | SOCKET | H(QUEUE)),
	SERVE(udp_receive, nf_local_in, OVER, HEADERS | H(QUEUE),
	      "Packets to a closed port count."),
	SERVE(udp_receive, netif_receive_skb, OVER, HEADERS | H(QUEUE), PORT_AGAIN),
	SERVE(udp_drop, udp_fail_queue_rcv_skb, EXACT, SOCKET | H(PROC) | H(RESULT)),
	SERVE(socket_send, sock_send_length, EXACT, TRANSFER),
	SERVE(socket_send, fn_sendmsg, UNDER, TRANSFER, FAMILIES
	      " What sendfile(2) and splice(2) send does not count before Linux 6.5."),
	SERVE(socket_receive, sock_recv_length, EXACT, TRANSFER),
	SERVE(socket_receive, fn_recvmsg, UNDER, TRANSFER, FAMILIES
	      " Nor does a call that was under way when it began."),
	SERVE(syscall_entry, syscall_enter, EXACT, H(PROC) | H(CALL) | ARGUMENTS),
	SERVE(syscall_return, syscall_exit, EXACT, H(PROC) | H(CALL) | H(RETVAL)),
	SERVE(socket_connect, socket_exit, UNDER, OF_CALL, NO_CALL),
	SERVE(socket_accept, socket_exit, UNDER, OF_CALL, NO_CALL),
	SERVE(socket_bind, socket_exit, UNDER, OF_CALL, NO_CALL),
	SERVE(socket_listen, socket_exit, UNDER, OF_CALL, NO_CALL),
	SERVE(socket_close, fn_close, EXACT, SOCKET | H(PROC) | H(SOCK)),
	SERVE(socket_close, sock_release, UNDER, SOCKET | H(PROC) | H(SOCK),
	      "Sockets of other families than IPv4 and IPv6 do not count."),
	SERVE(ip_request, nf_local_out, EXACT, LEAVES),
	SERVE(ip_deliver, nf_local_in, EXACT, COMES, PIECES6),
	SERVE(ip_deliver, fn_ip_input, EXACT, COMES),
	SERVE(ip_packet_free, consume_skb, UNDER, HEADERS,
	      "What a process has read is freed without an event, or has no interface left by "
	      "which it could be told."),
	SERVE(sctp_send, nf_post_routing, EXACT, LEAVES),
	SERVE(sctp_send, fn_ip_output, EXACT, LEAVES),
	SERVE(sctp_send, net_dev_queue, NEAR, LEAVES | H(QUEUE),
	      "Packets that wait for a neighbour count when they leave."),
	SERVE(sctp_receive, nf_local_in, EXACT, COMES),
	SERVE(sctp_receive, fn_ip_input, EXACT, COMES),
	SERVE(sctp_receive, netif_receive_skb, OVER, COMES,
	      "Packets that this host forwards count."),
	WAYS(ip4, H(IPV6)), WAYS(ip6, H(IPV4)),
	SERVE(nic_irq, irq_handler_exit, EXACT, H(IF) | H(QUEUE) | H(IRQ),
	      "Interrupts that have names of their own when it begins. On a line that devices "
	      "share, those that the driver took for its own."),
	SERVE(nic_link, rtnetlink, NEAR, H(IF) | H(LINK),
	      "Number and order are exact. The kernel tells of changes up to a second later, and "
	      "of those of an interface that is down when it is set up, or at the end."),
	SERVE(nic_tx_stop, net_dev_xmit, UNDER, H(IF) | H(QUEUE) | H(STOP),
	      "It is seen when the driver returns: a queue that was woken by then, or that "
	      "another function stopped, does not count."),
	SERVE(nic_tx_wake, net_dev_start_xmit, NEAR, H(IF) | H(QUEUE) | H(STOP) | H(WAKE),
	      "Once for each tx-stop, when the next packet is sent."),
	SERVE(fbt_entry, fbt_enter, EXACT, H(PROC) | H(CALL) | H(MODULE) | ARGUMENTS),
	SERVE(fbt_return, fbt_exit, EXACT, H(PROC) | H(CALL) | H(MODULE) | H(RETVAL)),
	SERVE(sdt_event, sdt_event, EXACT, H(PROC) | H(MODULE) | ARGUMENTS),
	SERVE(tcp_timeout_keepalive, fn_keepalive, EXACT, OF_SOCKET),
	SERVE(tcp_timeout_keepalive, timer_expire_exit, NEAR, OF_TIMER,
	      "A question that does not leave this host, for lack of memory, does not count."),
	SERVE(tcp_timeout_probe, fn_probe, EXACT, OF_SOCKET),
	SERVE(tcp_timeout_probe, timer_expire_exit, UNDER, OF_TIMER, TIMER_LATER),
	SERVE(tcp_timeout_delack, fn_delack, EXACT, OF_SOCKET),
	SERVE(tcp_timeout_delack, timer_expire_exit, UNDER, OF_TIMER, TIMER_LATER),
	{ .probe = NR_STABLE_PROBES }
};

const struct assistance assistances[] = {
	{ PROBE_nic_tx_done, SOURCE_consume_skb, SOURCE_net_dev_start_xmit },
	{ PROBE_nic_tx_done, SOURCE_consume_skb, SOURCE_driver_delivers },
	{ PROBE_nic_tx_done, SOURCE_consume_skb, SOURCE_kfree_skb },
	{ PROBE_socket_connect, SOURCE_socket_exit, SOURCE_socket_enter },
	{ PROBE_socket_accept, SOURCE_socket_exit, SOURCE_socket_enter },
	{ PROBE_socket_bind, SOURCE_socket_exit, SOURCE_socket_enter },
	{ PROBE_socket_listen, SOURCE_socket_exit, SOURCE_socket_enter },
	{ PROBE_ip_packet_free, SOURCE_consume_skb, SOURCE_kfree_skb },
	{ PROBE_nic_tx_stop, SOURCE_net_dev_xmit, SOURCE_net_dev_start_xmit },
	{ PROBE_nic_tx_wake, SOURCE_net_dev_start_xmit, SOURCE_net_dev_xmit },
	{ PROBE_tcp_state_change, SOURCE_fn_time_wait, SOURCE_inet_sock_set_state },
	{ PROBE_tcp_timeout_keepalive, SOURCE_timer_expire_exit, SOURCE_timer_expire_entry },
	{ PROBE_tcp_timeout_probe, SOURCE_timer_expire_exit, SOURCE_timer_expire_entry },
	{ PROBE_tcp_timeout_delack, SOURCE_timer_expire_exit, SOURCE_timer_expire_entry },
	{ NR_STABLE_PROBES, 0, 0 }
};
