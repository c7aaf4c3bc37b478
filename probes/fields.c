/* SPDX-License-Identifier: GPL-2.0 */
/* Every member of an event, as users name it. */
#include <stddef.h>
#include <string.h>

#include "lib/util/list.h"
#include "lib/util/log.h"
#include "probes/probe.h"

#define MEMBER(m)	(((struct probe_event *)0)->m)
#define IS(m, type)	__builtin_types_compatible_p(typeof(MEMBER(m)), type)
#define FIELD(n, struct_of, m, g, f, u, h)					\
	{ .name = n, .of = struct_of, .offset = offsetof(struct probe_event, m),	\
	  .size = sizeof(MEMBER(m)), .is_signed = IS(m, __s32) || IS(m, __s64),	\
	  .group = GROUP_##g, .format = FORMAT_##f, .unit = u, .help = h }
#define OF(struct_of, m, g, f, u, h)	FIELD(#m, struct_of, m, g, f, u, h)
#define ARG(n) \
	FIELD("arg" #n, NULL, arg[n], ARG##n, WORD, NULL, \
	      "argument " #n " of the system call, function or tracepoint, if it has so many")

const struct field fields[] = {
	FIELD("probename", NULL, probe, BASE, PROBE, NULL, "the probe"),
	FIELD("source", NULL, source, BASE, SOURCE, NULL, "where in the kernel the event was seen"),
	FIELD("timestamp", NULL, timestamp, BASE, DECIMAL, "ns", "time since boot, without sleep"),
	FIELD("delta_ns", NULL, delta_ns, SINCE, DECIMAL, "ns", "what --since or --delta measures"),
	FIELD("cpu", NULL, cpu, BASE, DECIMAL, NULL, "the CPU on which it happens"),
	FIELD("netns", NULL, netns, BASE, DECIMAL, NULL, "cookie of the network namespace"),
	FIELD("pid", NULL, pid, PROC, DECIMAL, NULL, "the process that makes it happen"),
	FIELD("tid", NULL, tid, PROC, DECIMAL, NULL, "the thread that makes it happen"),
	FIELD("uid", NULL, uid, PROC, DECIMAL, NULL, "the user whose process it is"),
	FIELD("execname", NULL, execname, PROC, STRING, NULL, "name of the thread"),

	OF("pktinfo_t", pkt_addr, PKT, HEX, NULL, "address of the sk_buff"),
	OF("pktinfo_t", pkt_len, PKT, DECIMAL, "bytes", "length with the Ethernet header"),
	OF("pktinfo_t", pkt_segs, PKT, DECIMAL, "packets", "wire packets in this buffer"),
	FIELD("pkt_proto", "pktinfo_t", if_proto, PKT, ETHERTYPE, NULL, "what the frame carries"),

	OF("csinfo_t", cs_addr, CS, HEX, NULL, "address of the socket"),
	OF("csinfo_t", cs_cid, CID, DECIMAL, NULL, "cookie of the socket"),

	OF("ifinfo_t", if_name, IF, STRING, NULL, "name of the interface"),
	OF("ifinfo_t", if_index, IF, DECIMAL, NULL, "number of the interface"),
	OF("ifinfo_t", if_local, IF, DECIMAL, NULL, "1: the loopback interface"),
	OF("ifinfo_t", if_queue, QUEUE, DECIMAL, NULL, "queue of the interface"),

	OF("etherinfo_t", eth_dst, ETH, MAC, NULL, "destination"),
	OF("etherinfo_t", eth_src, ETH, MAC, NULL, "source"),
	OF("etherinfo_t", eth_type, ETH, ETHERTYPE, NULL, "what the header says that follows"),
	OF("etherinfo_t", eth_istagged, ETH, DECIMAL, NULL, "1: it has a VLAN tag"),
	OF("etherinfo_t", eth_vlanid, ETH, DECIMAL, NULL, "number of the VLAN"),
	OF("etherinfo_t", eth_priority, ETH, DECIMAL, NULL, "priority in the VLAN tag"),

	OF("ipinfo_t", ip_ver, ADDR, DECIMAL, NULL, "4 or 6"),
	OF("ipinfo_t", ip_saddr, ADDR, ADDRESS, NULL, "source address"),
	OF("ipinfo_t", ip_daddr, ADDR, ADDRESS, NULL, "destination address"),
	OF("ipinfo_t", ip_plength, IP, DECIMAL, "bytes", "length behind the IP header"),
	OF("ipinfo_t", ip_proto, IP, PROTOCOL, NULL, "transport, behind extension headers"),
	OF("ipinfo_t", ip_ecn, IP, DECIMAL, NULL,
	   "ECN: 0 not capable, 1 and 2 capable, 3 congestion"),

	FIELD("ipv4_ver", "ipv4info_t", ip_ver, IPV4, DECIMAL, NULL, "4"),
	OF("ipv4info_t", ipv4_ihl, IPV4, DECIMAL, "bytes", "length of the header"),
	OF("ipv4info_t", ipv4_tos, IPV4, DECIMAL, NULL, "DSCP and ECN"),
	OF("ipv4info_t", ipv4_length, IPV4, DECIMAL, "bytes",
	   "length with the header; 0: above 65535"),
	OF("ipv4info_t", ipv4_ident, IPV4, DECIMAL, NULL, "identification"),
	OF("ipv4info_t", ipv4_flags, IPV4, DECIMAL, NULL, "4: do not fragment, 2: more fragments"),
	OF("ipv4info_t", ipv4_offset, IPV4, DECIMAL, NULL, "offset of the fragment, in 8 bytes"),
	OF("ipv4info_t", ipv4_ttl, IPV4, DECIMAL, NULL, "time to live"),
	OF("ipv4info_t", ipv4_protocol, IPV4, PROTOCOL, NULL, "protocol that follows"),
	OF("ipv4info_t", ipv4_checksum, IPV4, HEX, NULL, "checksum of the header"),
	FIELD("ipv4_saddr", "ipv4info_t", ip_saddr, IPV4, ADDRESS, NULL, "source address"),
	FIELD("ipv4_daddr", "ipv4info_t", ip_daddr, IPV4, ADDRESS, NULL, "destination address"),

	FIELD("ipv6_ver", "ipv6info_t", ip_ver, IPV6, DECIMAL, NULL, "6"),
	OF("ipv6info_t", ipv6_tclass, IPV6, DECIMAL, NULL, "DSCP and ECN"),
	OF("ipv6info_t", ipv6_flow, IPV6, HEX, NULL, "flow label"),
	OF("ipv6info_t", ipv6_plen, IPV6, DECIMAL, "bytes",
	   "length behind the header; 0: above 65535"),
	OF("ipv6info_t", ipv6_nexthdr, IPV6, PROTOCOL, NULL, "header that follows"),
	OF("ipv6info_t", ipv6_hlim, IPV6, DECIMAL, NULL, "hop limit"),
	FIELD("ipv6_saddr", "ipv6info_t", ip_saddr, IPV6, ADDRESS, NULL, "source address"),
	FIELD("ipv6_daddr", "ipv6info_t", ip_daddr, IPV6, ADDRESS, NULL, "destination address"),

	FIELD("tcp_sport", "tcpinfo_t", sport, TCPPORTS, DECIMAL, NULL, "source port"),
	FIELD("tcp_dport", "tcpinfo_t", dport, TCPPORTS, DECIMAL, NULL, "destination port"),
	OF("tcpinfo_t", tcp_seq, TCP, DECIMAL, NULL, "sequence number"),
	OF("tcpinfo_t", tcp_ack, TCP, DECIMAL, NULL, "acknowledged number"),
	OF("tcpinfo_t", tcp_offset, TCP, DECIMAL, "bytes", "length of the header"),
	OF("tcpinfo_t", tcp_flags, TCP, TCP_FLAGS, NULL, "SYN|ACK and so on"),
	OF("tcpinfo_t", tcp_window, TCP, DECIMAL, NULL, "window, not scaled"),
	OF("tcpinfo_t", tcp_checksum, TCP, HEX, NULL, "checksum"),
	OF("tcpinfo_t", tcp_urgent, TCP, DECIMAL, NULL, "urgent pointer"),
	OF("tcpinfo_t", tcp_plength, TCP, DECIMAL, "bytes", "length of the data"),

	FIELD("tcps_laddr", "tcpsinfo_t", laddr, TCPENDS, ADDRESS, NULL, "address of this end"),
	FIELD("tcps_lport", "tcpsinfo_t", lport, TCPENDS, DECIMAL, NULL, "port of this end"),
	FIELD("tcps_raddr", "tcpsinfo_t", raddr, TCPENDS, ADDRESS, NULL,
	      "address of the other end"),
	FIELD("tcps_rport", "tcpsinfo_t", rport, TCPENDS, DECIMAL, NULL, "port of the other end"),
	OF("tcpsinfo_t", tcps_state, STATE, STATE, NULL, "state"),
	OF("tcpsinfo_t", tcps_suna, TCPS, DECIMAL, NULL, "first number sent and not acknowledged"),
	OF("tcpsinfo_t", tcps_snxt, TCPS, DECIMAL, NULL, "number to be sent next"),
	OF("tcpsinfo_t", tcps_rnxt, TCPS, DECIMAL, NULL, "number expected next"),
	OF("tcpsinfo_t", tcps_swnd, TCPS, DECIMAL, "bytes", "window of the other end"),
	OF("tcpsinfo_t", tcps_rwnd, TCPS, DECIMAL, "bytes", "window of this end"),
	OF("tcpsinfo_t", tcps_cwnd, TCPS, DECIMAL, "segments", "congestion window"),
	FIELD("tcps_cwnd_ssthresh", "tcpsinfo_t", tcps_ssthresh, TCPS, DECIMAL, "segments",
	      "congestion window at which slow start ends"),
	OF("tcpsinfo_t", tcps_mss, TCPS, DECIMAL, "bytes", "most data in a segment"),
	OF("tcpsinfo_t", tcps_rtt, TCPS, DECIMAL, "us", "smoothed round-trip time"),
	OF("tcpsinfo_t", tcps_rttvar, TCPS, DECIMAL, "us", "mean deviation of the round-trip time"),
	OF("tcpsinfo_t", tcps_retransmits, TCPS, DECIMAL, NULL, "timeouts in a row"),
	OF("tcpsinfo_t", tcps_total_retrans, TCPS, DECIMAL, "segments",
	   "sent again since it began"),
	OF("tcpsinfo_t", tcps_ca_state, TCPS, DECIMAL, NULL,
	   "0 open, 1 disorder, 2 congestion reported, 3 recovery, 4 loss"),
	FIELD("tcpls_state", "tcplsinfo_t", tcpls_state, TCPLS, STATE, NULL, "state before"),
	FIELD("tcpls_inferred", "tcplsinfo_t", tcpls_inferred, TCPLS, DECIMAL, NULL,
	      "1: concluded from other changes, as no tracepoint tells of it"),
	FIELD("sk_err", "tcplsinfo_t", sk_err, TCPLS, ERRNO, NULL, "error of the socket"),

	FIELD("udp_sport", "udpinfo_t", sport, UDP, DECIMAL, NULL, "source port"),
	FIELD("udp_dport", "udpinfo_t", dport, UDP, DECIMAL, NULL, "destination port"),
	OF("udpinfo_t", udp_length, UDP, DECIMAL, "bytes", "length with the UDP header"),
	OF("udpinfo_t", udp_checksum, UDP, HEX, NULL, "checksum"),
	FIELD("udps_laddr", "udpsinfo_t", laddr, UDPENDS, ADDRESS, NULL, "address of this end"),
	FIELD("udps_lport", "udpsinfo_t", lport, UDPENDS, DECIMAL, NULL, "port of this end"),
	FIELD("udps_raddr", "udpsinfo_t", raddr, UDPENDS, ADDRESS, NULL,
	      "address of the other end, if it is connected"),
	FIELD("udps_rport", "udpsinfo_t", rport, UDPENDS, DECIMAL, NULL,
	      "port of the other end, if it is connected"),

	OF("icmpinfo_t", icmp_type, ICMP, DECIMAL, NULL, "type, of ICMP or ICMPv6"),
	OF("icmpinfo_t", icmp_code, ICMP, DECIMAL, NULL, "code"),
	OF("icmpinfo_t", icmp_checksum, ICMP, HEX, NULL, "checksum"),
	OF("icmpinfo_t", icmp_echo_id, ICMP, DECIMAL, NULL, "identification of an echo"),
	OF("icmpinfo_t", icmp_echo_seq, ICMP, DECIMAL, NULL, "number of an echo"),

	FIELD("sctp_sport", "sctpinfo_t", sport, SCTP, DECIMAL, NULL, "source port"),
	FIELD("sctp_dport", "sctpinfo_t", dport, SCTP, DECIMAL, NULL, "destination port"),
	OF("sctpinfo_t", sctp_verify, SCTP, HEX, NULL, "verification tag"),
	OF("sctpinfo_t", sctp_checksum, SCTP, HEX, NULL, "checksum"),
	OF("sctpinfo_t", sctp_chunk, SCTP, CHUNK, NULL, "type of the first chunk"),

	OF("arpinfo_t", arp_op, ARP, DECIMAL, NULL, "1 request, 2 reply"),
	OF("arpinfo_t", arp_sha, ARP, MAC, NULL, "hardware address of the sender"),
	OF("arpinfo_t", arp_spa, ARP, ADDRESS, NULL, "IP address of the sender"),
	OF("arpinfo_t", arp_tha, ARP, MAC, NULL, "hardware address of the target"),
	OF("arpinfo_t", arp_tpa, ARP, ADDRESS, NULL, "IP address of the target"),

	OF("sockinfo_t", so_family, SOCK, FAMILY, NULL, "address family"),
	OF("sockinfo_t", so_type, SOCK, SOCKET_TYPE, NULL, "type"),
	OF("sockinfo_t", so_protocol, SOCK, PROTOCOL, NULL, "protocol"),
	OF("sockinfo_t", so_flags, SOFLAGS, HEX, NULL, "MSG_ flags of the call"),
	OF("sockinfo_t", so_ret, SORET, DECIMAL, NULL,
	   "what the call returned: the bytes that were sent or received, or the file descriptor "
	   "that was accepted; below 0: -errno"),
	FIELD("so_laddr", "sockinfo_t", laddr, ENDS, ADDRESS, NULL, "address of this end"),
	FIELD("so_lport", "sockinfo_t", lport, ENDS, DECIMAL, NULL, "port of this end"),
	FIELD("so_raddr", "sockinfo_t", raddr, FAR, ADDRESS, NULL, "address of the other end"),
	FIELD("so_rport", "sockinfo_t", rport, FAR, DECIMAL, NULL, "port of the other end"),

	OF("dropinfo_t", drop_reason, DROP, REASON, NULL, "why the packet was dropped"),
	OF("dropinfo_t", drop_loc, DROP, SYMBOL, NULL, "where in the kernel"),
	FIELD("rc", NULL, rc, RESULT, ERRNO, NULL, "what the function of the kernel returned"),
	OF(NULL, tx_ns, DONE, DECIMAL, "ns", "time since the driver took the packet"),
	OF("napiinfo_t", napi_id, NAPI, DECIMAL, NULL, "number of the NAPI instance"),
	OF("napiinfo_t", napi_work, NAPI, DECIMAL, "packets", "received by this poll"),
	OF("napiinfo_t", napi_budget, NAPI, DECIMAL, "packets", "most that this poll may receive"),

	OF("irqinfo_t", irq, IRQ, DECIMAL, NULL, "number of the interrupt"),
	OF("irqinfo_t", irq_name, IRQ, STRING, NULL,
	   "its name, up to 15 characters; irq tells apart those that begin alike"),
	OF("irqinfo_t", irq_serves, IRQ, STRING, NULL,
	   "queues that it serves: queue 3, rx 3, tx 3, all queues; -: none, or it is unknown"),
	OF(NULL, link_up, LINK, DECIMAL, NULL, "1: the carrier came, 0: it went"),
	OF(NULL, stop_by, STOP, STOPPER, NULL, "who stopped the queue: driver or bql"),
	OF(NULL, stop_ns, WAKE, DECIMAL, "ns", "time since the queue was seen to be stopped"),

	FIELD("probefunc", NULL, syscall, CALL, SYSCALL, NULL, "the system call, or the function"),
	ARG(0), ARG(1), ARG(2), ARG(3), ARG(4), ARG(5),
	FIELD("retval", NULL, retval, RETVAL, WORD, NULL,
	      "what the system call or function returned"),
	FIELD("errno", NULL, failure, RETVAL, ERRNO, NULL, "its error; 0: none"),
	FIELD("probemod", NULL, module, MODULE, MODULE, NULL,
	      "the module of the function, or the group of the tracepoint"),
	FIELD("kstack", NULL, kstack, KSTACK, KSTACK, NULL,
	      "the functions of the kernel that led here"),
	FIELD("ustack", NULL, ustack, USTACK, USTACK, NULL,
	      "the functions of the process that led here"),
	{}
};

/* As other tools, or DTrace elsewhere, call them. */
static const struct {
	const char *alias, *name;
} aliases[] = {
	{ "comm", "execname" }, { "func", "probefunc" }, { "probe", "probename" },
	{ "ipv4_protostr", "ipv4_protocol" }, { "ipv6_nextstr", "ipv6_nexthdr" },
	{ "ipv4_src", "ipv4_saddr" }, { "ipv4_dst", "ipv4_daddr" },
	{ "ipv6_src", "ipv6_saddr" }, { "ipv6_dst", "ipv6_daddr" },
	{ "tcps_ssthresh", "tcps_cwnd_ssthresh" }, { "tcps_rtt_sd", "tcps_rttvar" },
};

const struct field *field_find(const char *name)
{
	for (unsigned i = 0; i < NR_OF(aliases); i++)
		if (!strcmp(aliases[i].alias, name))
			name = aliases[i].name;
	for (const struct field *f = fields; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

bool field_is_number(const struct field *f)
{
	return f->format == FORMAT_DECIMAL || f->format == FORMAT_WORD ||
	       f->format == FORMAT_ERRNO;
}

bool field_is_stack(const struct field *f)
{
	return f->format == FORMAT_KSTACK || f->format == FORMAT_USTACK;
}

const char *field_type(const struct field *f)
{
	if (f->format == FORMAT_STRING || f->format == FORMAT_ADDRESS || f->format == FORMAT_MAC ||
	    f->format == FORMAT_PROBE || f->format == FORMAT_SOURCE ||
	    f->format == FORMAT_MODULE)
		return "string";
	if (field_is_stack(f))
		return "string[]";
	return text("%sint%u_t", f->is_signed ? "" : "u", f->size * 8);
}
