/* SPDX-License-Identifier: GPL-2.0 */
/* The stable probes: their arguments, when they fire, and the patterns that name them. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "lib/util/list.h"
#include "lib/util/log.h"
#include "probes/raw.h"
#include "probes/syscalls.h"

/* In the order of DTrace: gld, ip, tcp, udp, icmp. arp and the others are ours. */
#define GLD	"pktinfo_t", "csinfo_t", "ipinfo_t", "ifinfo_t", "etherinfo_t"
#define GLD_IN	"pktinfo_t", NULL, "ipinfo_t", "ifinfo_t", "etherinfo_t"
#define IP	"pktinfo_t", "csinfo_t", "ipinfo_t", "ifinfo_t", "ipv4info_t", "ipv6info_t"
#define TCP	"pktinfo_t", "csinfo_t", "ipinfo_t", "tcpsinfo_t", "tcpinfo_t"
#define UDP	"pktinfo_t", "csinfo_t", "ipinfo_t", "udpsinfo_t", "udpinfo_t"
#define ICMP	"pktinfo_t", "csinfo_t", "ipinfo_t", "ifinfo_t", "icmpinfo_t"
#define ARP	"pktinfo_t", NULL, NULL, "ifinfo_t", "arpinfo_t", "etherinfo_t"
#define SCTP	"pktinfo_t", "csinfo_t", "ipinfo_t", NULL, "sctpinfo_t"
#define SOCKET	NULL, "csinfo_t", NULL, "tcpsinfo_t", "sockinfo_t"

#define FRAME	"if_name,if_queue,pkt_len,pkt_segs,pkt_proto,ip_saddr,ip_daddr"
#define PACKET	"if_name,ip_saddr,ip_daddr,ip_proto,ip_plength"
#define SEGMENT	"ip_saddr,tcp_sport,ip_daddr,tcp_dport,tcp_flags,tcp_plength"
#define TUPLE	"ip_saddr,tcp_sport,ip_daddr,tcp_dport"
#define DATAGRAM "ip_saddr,udp_sport,ip_daddr,udp_dport,udp_length"
#define SO_KIND	"pid,execname,so_family,so_type,so_protocol"
#define CHUNK	"ip_saddr,sctp_sport,ip_daddr,sctp_dport,sctp_verify,sctp_chunk"
#define ENDS	"tcps_laddr,tcps_lport,tcps_raddr,tcps_rport"

#define PROBE(p, n, h, c, ...) {						\
	.provider = p, .name = n, .help = h, .columns = c, .args = { __VA_ARGS__ }	\
}

/* Two probes at a hook of netfilter for each version of IP. */
#define WAY(id, name, packet)							\
	WAY_AT(ip4, id, "ip4-" name, "An IPv4 packet " packet),			\
	WAY_AT(ip6, id, "ip6-" name, "An IPv6 packet " packet)
#define WAY_AT(v, id, n, packet)						\
	[PROBE_sdt_##v##_##id##_start] = PROBE("sdt", n "-start",		\
		packet " meets the first rule of netfilter.", PACKET, IP),	\
	[PROBE_sdt_##v##_##id##_end] = PROBE("sdt", n "-end",			\
		packet " has passed the rules of netfilter.", PACKET, IP)

const struct stable stable_probes[] = {
	[PROBE_nic_rx_poll] = PROBE("nic", "rx-poll", "The driver was polled for received packets.",
		"if_name,cpu,napi_id,napi_work,napi_budget",
		NULL, NULL, NULL, "ifinfo_t", "napiinfo_t"),
	[PROBE_nic_rx_packet] = PROBE("nic", "rx-packet",
		"The driver gives up a frame, before frames are merged. Also called gld:::receive.",
		FRAME, GLD_IN),
	[PROBE_nic_rx_stack] = PROBE("nic", "rx-stack",
		"The stack takes a packet, after frames were merged.", FRAME, GLD_IN),
	[PROBE_nic_rx_drop] = PROBE("nic", "rx-drop",
		"The kernel drops a packet that was received.",
		"if_name,pkt_len,pkt_proto,drop_reason,drop_loc", GLD_IN, "dropinfo_t"),
	[PROBE_nic_tx_queue] = PROBE("nic", "tx-queue",
		"The stack hands a packet to the queueing discipline of an interface.", FRAME, GLD),
	[PROBE_nic_tx_start] = PROBE("nic", "tx-start",
		"The driver gets a frame, or a buffer that the card will cut. Also called "
		"gld:::send.",
		FRAME, GLD),
	[PROBE_nic_tx_busy] = PROBE("nic", "tx-busy",
		"The driver refuses a frame, as its ring is full.",
		"if_name,if_queue,pkt_len,rc", GLD),
	[PROBE_nic_tx_done] = PROBE("nic", "tx-done", "The driver frees a frame that was sent.",
		"if_name,if_queue,pkt_len,tx_ns", GLD),
	[PROBE_nic_xdp_redirect] = PROBE("nic", "xdp-redirect",
		"An XDP program redirects a frame; rc tells whether that failed.", "if_name,rc",
		NULL, NULL, NULL, "ifinfo_t"),
	[PROBE_nic_xdp_exception] = PROBE("nic", "xdp-exception",
		"A frame is lost by an XDP program: rc is its verdict, which failed or is unknown.",
		"if_name,rc", NULL, NULL, NULL, "ifinfo_t"),
	[PROBE_arp_send] = PROBE("arp", "send", "An ARP packet is sent.",
		"if_name,arp_op,arp_sha,arp_spa,arp_tha,arp_tpa", ARP),
	[PROBE_arp_receive] = PROBE("arp", "receive", "An ARP packet is received.",
		"if_name,arp_op,arp_sha,arp_spa,arp_tha,arp_tpa", ARP),
	[PROBE_icmp_send] = PROBE("icmp", "send", "This host sends an ICMP or ICMPv6 message.",
		"ip_saddr,ip_daddr,icmp_type,icmp_code,ip_plength", ICMP),
	[PROBE_icmp_receive] = PROBE("icmp", "receive",
		"An ICMP or ICMPv6 message for this host is received.",
		"ip_saddr,ip_daddr,icmp_type,icmp_code,ip_plength", ICMP),
	[PROBE_ip_send] = PROBE("ip", "send", "An IP packet is sent or forwarded.", PACKET, IP),
	[PROBE_ip_receive] = PROBE("ip", "receive",
		"An IP packet for this host is received; fragments count once they are put "
		"together.",
		PACKET, IP),
	[PROBE_ip_drop_in] = PROBE("ip", "drop-in", "An IP packet that was received is dropped.",
		PACKET ",drop_reason,drop_loc", IP),
	[PROBE_ip_drop_out] = PROBE("ip", "drop-out", "An IP packet of this host is dropped.",
		PACKET ",drop_reason,drop_loc", IP),
	[PROBE_tcp_send] = PROBE("tcp", "send", "This host sends a segment.", SEGMENT, TCP),
	[PROBE_tcp_receive] = PROBE("tcp", "receive", "A segment for this host is received.",
		SEGMENT, TCP),
	[PROBE_tcp_connect_request] = PROBE("tcp", "connect-request",
		"This host asks to connect: the headers are those of its first SYN.", TUPLE, TCP),
	[PROBE_tcp_connect_established] = PROBE("tcp", "connect-established",
		"The other end accepts: the addresses are those of the SYN|ACK that was received.",
		TUPLE, TCP),
	[PROBE_tcp_connect_refused] = PROBE("tcp", "connect-refused",
		"The other end refuses: the addresses are those of the RST that was received.",
		TUPLE, TCP),
	[PROBE_tcp_accept_established] = PROBE("tcp", "accept-established",
		"A connection to this host is established: the addresses are those of the last "
		"ACK, so tcp_dport is the port of this host.", TUPLE, TCP),
	[PROBE_tcp_accept_refused] = PROBE("tcp", "accept-refused",
		"This host refuses a SYN, as nobody listens: the headers are those of the RST that "
		"is sent, so tcp_sport is the port of this host.", TUPLE, TCP),
	[PROBE_tcp_state_change] = PROBE("tcp", "state-change",
		"A connection changes its state: args[3]->tcps_state is the new one, "
		"args[5]->tcps_state the one before.", ENDS ",tcpls_state,tcps_state",
		NULL, "csinfo_t", NULL, "tcpsinfo_t", NULL, "tcplsinfo_t"),
	[PROBE_tcp_retransmit] = PROBE("tcp", "retransmit", "A segment is sent again.",
		ENDS ",tcps_state,tcps_retransmits,tcps_ca_state", TCP),
	[PROBE_tcp_retransmit_synack] = PROBE("tcp", "retransmit-synack",
		"A SYN|ACK is sent again.", ENDS, TCP),
	[PROBE_tcp_timeout_rto] = PROBE("tcp", "timeout-rto",
		"The retransmission timer runs out.", ENDS ",tcps_state,tcps_retransmits", TCP),
	[PROBE_udp_send] = PROBE("udp", "send", "This host sends a datagram.", DATAGRAM, UDP),
	[PROBE_udp_receive] = PROBE("udp", "receive", "A datagram is received by a socket.",
		DATAGRAM, UDP),
	[PROBE_udp_drop] = PROBE("udp", "drop",
		"A datagram finds no room in the queue of its socket.",
		"udps_laddr,udps_lport,rc", UDP),
	[PROBE_socket_send] = PROBE("socket", "send", "A process sends by a socket.",
		"pid,execname,so_family,so_type,so_protocol,so_ret", SOCKET),
	[PROBE_socket_receive] = PROBE("socket", "receive", "A process receives from a socket.",
		"pid,execname,so_family,so_type,so_protocol,so_ret", SOCKET),
	[PROBE_syscall_entry] = PROBE("syscall", "entry",
		"A process makes a system call: syscall::NAME:entry.",
		"pid,execname,probefunc,arg0,arg1,arg2", NULL),
	[PROBE_syscall_return] = PROBE("syscall", "return",
		"A system call returns: syscall::NAME:return.",
		"pid,execname,probefunc,retval,errno", NULL),
	[PROBE_socket_connect] = PROBE("socket", "connect",
		"connect(2) of a socket returns: the other end is the one that it was asked to "
		"connect to.",
		SO_KIND ",so_raddr,so_rport,errno", SOCKET),
	[PROBE_socket_accept] = PROBE("socket", "accept",
		"accept(2) of a socket returns: the ends are those of the connection that it "
		"gives; if it fails, of the socket that listens.",
		SO_KIND ",so_lport,so_raddr,so_rport,errno", SOCKET),
	[PROBE_socket_bind] = PROBE("socket", "bind",
		"bind(2) of a socket returns: the end is the one that the socket has now; if it "
		"fails, the one that was asked for.",
		SO_KIND ",so_laddr,so_lport,errno", SOCKET),
	[PROBE_socket_listen] = PROBE("socket", "listen", "listen(2) of a socket returns.",
		SO_KIND ",so_laddr,so_lport,errno", SOCKET),
	[PROBE_socket_close] = PROBE("socket", "close",
		"A socket is closed: once, when its last file descriptor is gone.",
		SO_KIND ",so_laddr,so_lport,so_raddr,so_rport", SOCKET),
	[PROBE_ip_request] = PROBE("ip", "request",
		"A transport of this host asks IP to send a packet: before any rule of netfilter.",
		PACKET, IP),
	[PROBE_ip_deliver] = PROBE("ip", "deliver",
		"IP gives a packet to the transport: behind all rules of netfilter.", PACKET, IP),
	[PROBE_ip_packet_free] = PROBE("ip", "packet-free",
		"A buffer with an IP packet is freed; source tells whether it was dropped.",
		"source,pkt_addr,pkt_len,ip_saddr,ip_daddr", "pktinfo_t", NULL, "ipinfo_t"),
	[PROBE_sctp_send] = PROBE("sctp", "send", "This host sends a packet of SCTP.", CHUNK,
				  SCTP),
	[PROBE_sctp_receive] = PROBE("sctp", "receive",
		"A packet of SCTP for this host is received.", CHUNK, SCTP),
	WAY(physical_in, "physical-in", "that was received (PRE_ROUTING)"),
	WAY(physical_out, "physical-out", "that is to leave (POST_ROUTING)"),
	WAY(forwarding, "forwarding", "that is forwarded (FORWARD)"),
	WAY(loopback_in, "loopback-in", "that was received from this host (PRE_ROUTING)"),
	WAY(loopback_out, "loopback-out", "that stays in this host (POST_ROUTING)"),
	[PROBE_nic_irq] = PROBE("nic", "irq", "An interrupt of an interface was handled.",
		"if_name,cpu,irq,irq_name,irq_serves",
		NULL, NULL, NULL, "ifinfo_t", "irqinfo_t"),
	[PROBE_nic_link] = PROBE("nic", "link", "The carrier of an interface comes or goes.",
		"if_name,link_up", NULL, NULL, NULL, "ifinfo_t"),
	[PROBE_nic_tx_stop] = PROBE("nic", "tx-stop",
		"A transmit queue is stopped, by its driver or by byte queue limits.",
		"if_name,if_queue,stop_by", NULL, NULL, NULL, "ifinfo_t"),
	[PROBE_nic_tx_wake] = PROBE("nic", "tx-wake",
		"A transmit queue that was stopped sends again.",
		"if_name,if_queue,stop_by,stop_ns", NULL, NULL, NULL, "ifinfo_t"),
	[PROBE_fbt_entry] = PROBE("fbt", "entry",
		"A function of the kernel is called: fbt:MODULE:FUNCTION:entry. Its name and "
		"arguments are those of this kernel, and not stable.",
		"probefunc,pid,execname,arg0,arg1,arg2", NULL),
	[PROBE_fbt_return] = PROBE("fbt", "return",
		"A function of the kernel returns: fbt:MODULE:FUNCTION:return. Not stable.",
		"probefunc,pid,execname,retval,errno", NULL),
	[PROBE_sdt_event] = PROBE("sdt", "*",
		"A tracepoint of the kernel: sdt:GROUP::EVENT, also called perf:GROUP::EVENT. Its "
		"name and arguments are those of this kernel, and not stable.",
		"probename,pid,execname,arg0,arg1,arg2", NULL),
	[PROBE_tcp_timeout_keepalive] = PROBE("tcp", "timeout-keepalive",
		"The keepalive timer runs out, and the other end is asked whether it is there.",
		ENDS ",tcps_state", TCP),
	[PROBE_tcp_timeout_probe] = PROBE("tcp", "timeout-probe",
		"The timer of an empty window runs out, and the other end is asked for a larger "
		"one.", ENDS ",tcps_state,tcps_swnd", TCP),
	[PROBE_tcp_timeout_delack] = PROBE("tcp", "timeout-delack",
		"The timer of a delayed ACK runs out, and the ACK is sent.",
		ENDS ",tcps_state", TCP),
};

ONE_EACH(stable_probes, NR_STABLE_PROBES);

const char *probe_name(enum stable_probe p)
{
	return text("%s:::%s", stable_probes[p].provider, stable_probes[p].name);
}

/* The four parts of a pattern: provider, module, function, name. False: they are not four. */
static bool pattern_split(const char *pattern, char part[4][64])
{
	for (unsigned i = 0; i < 4; i++) {
		size_t len = strcspn(pattern, ":");

		if (len >= 64 || (pattern[len] == ':') != (i < 3))
			return false;
		snprintf(part[i], 64, "%.*s", (int)len, pattern);
		pattern += len + 1;
	}
	return true;
}

static bool part_fits(const char *pattern, const char *name)
{
	return !*pattern || !fnmatch(pattern, name, 0);
}

/* What the first proposal of DTrace's network providers called gld are two of nic. */
static bool gld_fits(const char *pattern, enum stable_probe p)
{
	return (p == PROBE_nic_rx_packet && part_fits(pattern, "receive")) ||
	       (p == PROBE_nic_tx_start && part_fits(pattern, "send"));
}

/* Those of fbt and sdt, of which a pattern names functions and tracepoints. */
static probe_set raw_kinds(const char *pattern)
{
	const char *name = strrchr(pattern, ':') + 1;

	if (strncmp(pattern, "fbt:", 4))
		return probe_bit(PROBE_sdt_event);
	return (part_fits(name, "entry") ? probe_bit(PROBE_fbt_entry) : 0) |
	       (part_fits(name, "return") ? probe_bit(PROBE_fbt_return) : 0);
}

probe_set probes_match(const char *pattern, char *function)
{
	char part[4][64];
	probe_set found = 0;

	*function = 0;
	if (raw_is(pattern))
		return raw_kinds(pattern);
	if (!pattern_split(pattern, part) || !part_fits(part[1], ""))
		return 0;
	for (int p = 0; p < NR_STABLE_PROBES; p++) {
		bool calls = !strcmp(stable_probes[p].provider, "syscall");
		bool fits = !strcmp(part[0], "gld") ? gld_fits(part[3], p) :
			    part_fits(part[0], stable_probes[p].provider) &&
			    part_fits(part[3], stable_probes[p].name);

		if (!fits || raw_has(probe_bit(p)) || (calls ? *part[2] && !syscall_known(part[2]) :
				      !part_fits(part[2], "")))
			continue;
		found |= probe_bit(p);
		if (calls)
			snprintf(function, 64, "%s", part[2]);
	}
	return found;
}
