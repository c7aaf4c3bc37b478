/* SPDX-License-Identifier: GPL-2.0 */
/* The table of what the stack and sockets throw away: why, what it means, what helps. */
#include <string.h>

#include "../bpf/drop.h"
#include "../lib/symbol.h"
#include "dropping.h"

static const struct limit few = { 10, "10 packets" };
static const struct limit share = { 1e-4, "one in 10000 of the packets of that direction" };
static const struct limit one = { 1, "one" };

#define ENOUGH		.limits = { &few, &share }
#define WHEN(reason)	"{1} and {2} were dropped in the window (" reason ")"

static bool in_udp(const struct drop_key *key)
{
	const char *symbol = symbol_at(key->location);

	return symbol && (strstr(symbol, "udp") || strstr(symbol, "UDP"));
}

static bool in_vlan(const struct drop_key *key)
{
	return key->whom == DROP_FOR_VLAN;
}

const struct loss losses[] = {
	{ .kind = {
		.id = "socket-full", .severity = SEVERITY_CRITICAL, .harm = HARM_LOSS,
		.title = "The receive buffer of a socket is full",
		.means = "The packet was for a program that had not read those before it. Its "
			 "socket's buffer (SO_RCVBUF) was full, and the packet was thrown away. "
			 "For UDP it is gone.",
		.when = WHEN("SOCKET_RCVBUFF; UdpRcvbufErrors"),
		.remedy = "Let the program read faster (more threads: SO_REUSEPORT). Against "
			  "bursts give it room: SO_RCVBUF up to net.core.rmem_max, or "
			  "net.core.rmem_default, which sockets opened from then on have. Room "
			  "does not help a program that is always slower than what comes.",
		.symptom = "A program misses datagrams", ENOUGH },
	  .reasons = { "SOCKET_RCVBUFF" }, .counters = { "UdpRcvbufErrors", "Udp6RcvbufErrors" },
	  .what = "found the receive buffer of their socket full",
	  .fix = "sysctl -w net.core.rmem_max={4*net.core.rmem_max} "
		 "net.core.rmem_default={4*net.core.rmem_default}",
	  .changes = "four times the room for sockets opened from now on",
	  .advice = "which program: ss -uamp; it reads too slowly, or needs a larger SO_RCVBUF",
	  .only_bursts = true },
	{ .kind = {
		.id = "tcp-backlog-full", .severity = SEVERITY_CRITICAL, .harm = HARM_LOSS,
		.title = "Segments come while their TCP socket is busy and its backlog is full",
		.means = "While a program is in a system call on its socket, segments wait in the "
			 "socket's backlog. What finds it full is dropped and must be sent again.",
		.when = WHEN("SOCKET_BACKLOG; TcpExtTCPBacklogDrop"),
		.remedy = "A larger buffer: net.ipv4.tcp_rmem, net.core.rmem_max; or more CPU for "
			  "the program.",
		.symptom = "A fast TCP connection has retransmissions", ENOUGH },
	  .reasons = { "SOCKET_BACKLOG" }, .counters = { "TcpExtTCPBacklogDrop" },
	  .what = "came while their TCP socket was busy and its backlog was full",
	  .fix = "sysctl -w net.core.rmem_max={4*net.core.rmem_max}",
	  .changes = "room for sockets opened from now on",
	  .advice = "which program: ss -tamp; let it read faster" },
	{ .kind = {
		.id = "tcp-window-closed", .severity = SEVERITY_WARNING, .harm = HARM_LOSS,
		.title = "Segments come to a closed TCP window",
		.means = "The program does not read, its buffer is full, and the other end was "
			 "told to send nothing; it probes, or had sent before it heard of that.",
		.when = WHEN("TCP_ZEROWINDOW"),
		.remedy = "Let the program read faster.",
		.symptom = "A TCP connection stands still and goes on", ENOUGH },
	  .reasons = { "TCP_ZEROWINDOW" },
	  .what = "found the window of their TCP socket closed",
	  .advice = "which program: ss -tamp; let it read faster" },
	{ .kind = {
		.id = "tcp-out-of-order-full", .severity = SEVERITY_WARNING, .harm = HARM_LOSS,
		.title = "Segments out of order find no room at their socket",
		.means = "TCP keeps segments that came too early in the socket's buffer. It was "
			 "full, and they were dropped, to be sent again.",
		.when = WHEN("TCP_OFO_QUEUE_PRUNE, TCP_OFO_DROP"),
		.remedy = "A larger third number in net.ipv4.tcp_rmem; look for the losses before: "
			  "ss -tim.",
		.symptom = "A fast TCP connection has retransmissions", ENOUGH },
	  .reasons = { "TCP_OFO_*" },
	  .what = "came out of order and found no room at their TCP socket",
	  .advice = "ss -tim; a larger third number in sysctl net.ipv4.tcp_rmem" },
	{ .kind = {
		.id = "protocol-memory", .severity = SEVERITY_CRITICAL, .harm = HARM_LOSS,
		.title = "The memory for all sockets of a protocol is used up",
		.means = "All UDP or all TCP sockets together have as many pages as "
			 "net.ipv4.udp_mem or tcp_mem allow. Every further packet is dropped, "
			 "whosever it is.",
		.when = WHEN("PROTO_MEM"),
		.remedy = "Find who holds it (ss -uamp, /proc/net/sockstat), or raise udp_mem or "
			  "tcp_mem.",
		.symptom = "All programs miss packets at the same time", ENOUGH },
	  .reasons = { "PROTO_MEM" },
	  .what = "found the memory for all sockets of their protocol used up",
	  .advice = "compare /proc/net/sockstat with sysctl net.ipv4.udp_mem net.ipv4.tcp_mem, and "
	  "raise these" },
	{ .kind = {
		.id = "accept-queue-full", .severity = SEVERITY_CRITICAL, .harm = HARM_LOSS,
		.title = "The queue of connections to accept is full",
		.means = "A server accepts connections more slowly than they come. The handshake "
			 "of further ones is dropped, and the client tries again after a second.",
		.when = "{1} was dropped in the window (TCP_LISTEN_OVERFLOW; "
			"TcpExtListenOverflows)",
		.remedy = "Accept faster; a larger backlog of listen, up to net.core.somaxconn.",
		.symptom = "Connections take a second or more to open", .limits = { &one } },
	  .reasons = { "TCP_LISTEN_OVERFLOW" }, .counters = { "TcpExtListenOverflows" },
	  .what = "to open connections found the queue to accept full", .untraced = true,
	  .fix = "sysctl -w net.core.somaxconn={2*net.core.somaxconn}",
	  .changes = "the most that listen() is given from now on",
	  .advice = "which server: ss -lnt (Recv-Q above Send-Q); it must accept faster, or ask "
		    "listen() for more" },
	{ .kind = {
		.id = "udp-port-closed", .severity = SEVERITY_WARNING, .harm = HARM_LOSS,
		.title = "Datagrams are for a port at which nothing listens",
		.means = "Somebody sends UDP to this host, and no program has that port open. Each "
			 "is answered with an ICMP error and dropped.",
		.when = WHEN("NO_SOCKET in UDP; UdpNoPorts"),
		.silent = "Answers to pings and segments of connections that have just closed, "
			  "which the kernel frees with the same reason.",
		.remedy = "Start the program, or tell the sender.",
		.symptom = "A service gets nothing though its packets arrive", ENOUGH },
	  .reasons = { "NO_SOCKET" }, .counters = { "UdpNoPorts", "Udp6NoPorts" },
	  .what = "were for a UDP port at which nothing listens",
	  .advice = "what listens: ss -lnu; who sends: tcpdump -nni {if} -c 100 udp",
	  .meant = in_udp },
	{ .kind = {
		.id = "vlan-unknown", .severity = SEVERITY_WARNING, .harm = HARM_LOSS,
		.title = "Packets come in a VLAN that there is no device for",
		.means = "They have a VLAN tag, and no VLAN device of this interface has that id: "
			 "the device is missing, or the switch sends this port what it should not.",
		.when = WHEN("vlan-unknown"),
		.silent = "Multicast and broadcast of other VLANs.",
		.remedy = "ip link add link IFACE name IFACE.ID type vlan id ID; or take the VLAN "
			  "off the switch port.",
		.symptom = "A VLAN has no connection, though its packets arrive", ENOUGH },
	  .reasons = { "OTHERHOST", "UNHANDLED_PROTO" },
	  .what = "came in a VLAN that {if} has no device for",
	  .advice = "which: tcpdump -nnei {if} -c 10 vlan; then ip link add link {if} name "
		    "{if}.ID type vlan id ID, or take it off the switch port",
	  .meant = in_vlan },
	{ .kind = {
		.id = "rp-filter", .severity = SEVERITY_CRITICAL, .harm = HARM_LOSS,
		.title = "Packets come from an address that is reached another way",
		.means = "With rp_filter=1 the kernel drops a packet if its answer would leave by "
			 "another interface: asymmetric routing, or a forged sender.",
		.when = WHEN("IP_RPFILTER; TcpExtIPReversePathFilter"),
		.remedy = "If the routing is meant: rp_filter=2, which asks for any way back.",
		.symptom = "One direction works, and no answer comes", ENOUGH },
	  .reasons = { "IP_RPFILTER" }, .counters = { "TcpExtIPReversePathFilter" },
	  .what = "came from an address that is reached another way (rp_filter)",
	  .fix = "sysctl -w net/ipv4/conf/{if}/rp_filter=2",
	  .changes = "a source is good if it can be reached by any interface",
	  .advice = "if they are not meant to come this way: ip route get ADDRESS" },
	{ .kind = {
		.id = "checksum-bad", .severity = SEVERITY_CRITICAL, .harm = HARM_LOSS,
		.title = "Packets arrive with a wrong checksum",
		.means = "Bytes changed on the way, in a cable, a switch or a card; or the "
			 "sender's offload did not fill the checksum in.",
		.when = WHEN("IP_CSUM, TCP_CSUM, UDP_CSUM; TcpInCsumErrors, UdpInCsumErrors"),
		.remedy = "ethtool -S IFACE for errors of the link; another cable. If one sender's "
			  "are wrong: its ethtool -K IFACE tx off.",
		.symptom = "Connections are slow, with retransmissions, at any load", ENOUGH },
	  .reasons = { "IP_CSUM", "TCP_CSUM", "UDP_CSUM", "ICMP_CSUM" },
	  .counters = { "TcpInCsumErrors", "UdpInCsumErrors" },
	  /* what recv() finds wrong is of no interface any more (udp_recvmsg()) */
	  .what = "arrived with a wrong checksum", .untraced = true,
	  .advice = "a cable, a switch or a card: ethtool -S {if}; who sends them: tcpdump -nnvi "
	  "{if} -c 100" },
	{ .kind = {
		.id = "no-hops-left", .severity = SEVERITY_WARNING, .harm = HARM_LOSS,
		.title = "Packets have a bad IP header or no hops left",
		.means = "The header is damaged, or a packet was forwarded so often that its TTL "
			 "is used up: a loop in the routing.",
		.when = WHEN("IP_INHDR"),
		.remedy = "traceroute to the destination, to see the loop.",
		.symptom = "A destination cannot be reached", ENOUGH },
	  .reasons = { "IP_INHDR", "TCP_MINTTL" },
	  .what = "had a bad IP header, or no hops left",
	  .advice = "a routing loop? tcpdump -nvi {if} 'ip[8] <= 1'; traceroute" },
	{ .kind = {
		.id = "no-route-in", .severity = SEVERITY_CRITICAL, .harm = HARM_LOSS,
		.title = "Packets are to be forwarded and there is no route",
		.means = "This host forwards, and has no route for their destination.",
		.when = WHEN("IP_INNOROUTES; IpInNoRoutes"),
		.remedy = "ip route get DESTINATION iif IFACE tells; add the route.",
		.symptom = "A network behind this router cannot be reached", ENOUGH },
	  .reasons = { "IP_INNOROUTES" }, .counters = { "IpExtInNoRoutes" },
	  .what = "were to be forwarded, and there is no route",
	  .advice = "ip route get DESTINATION iif {if}; who sends them: tcpdump -nni {if} -c 100" },
	{ .kind = {
		.id = "not-forwarding", .severity = SEVERITY_WARNING, .harm = HARM_LOSS,
		.title = "Packets are for another host and this one does not forward",
		.means = "They have this host's hardware address and somebody else's IP address: "
			 "the sender takes this host for a router.",
		.when = WHEN("IP_INADDRERRORS"),
		.remedy = "If it shall be one: net.ipv4.conf.IFACE.forwarding=1; else mend the "
			  "sender's route.",
		.symptom = "A network behind this host cannot be reached", ENOUGH },
	  .reasons = { "IP_INADDRERRORS" }, .counters = { "IpInAddrErrors" },
	  .what = "were for another host, and {if} does not forward",
	  .advice = "who sends them: tcpdump -nni {if} -c 100; if this host shall be their router: "
		    "sysctl -w net/ipv4/conf/{if}/forwarding=1" },
	{ .kind = {
		.id = "no-route-out", .severity = SEVERITY_CRITICAL, .harm = HARM_LOSS,
		.title = "Packets are sent and there is no route",
		.means = "A program sends to a destination that no route leads to.",
		.when = WHEN("IP_OUTNOROUTES; IpOutNoRoutes"),
		.remedy = "ip route get DESTINATION",
		.symptom = "A destination cannot be reached", ENOUGH },
	  .reasons = { "IP_OUTNOROUTES" }, .counters = { "IpOutNoRoutes" },
	  .what = "were sent, and there is no route", .advice = "ip route get DESTINATION" },
	{ .kind = {
		.id = "neighbour-dead", .severity = SEVERITY_CRITICAL, .harm = HARM_LOSS,
		.title = "A neighbour does not answer",
		.means = "The next hop was asked for its hardware address (ARP, neighbour "
			 "discovery) and did not answer, so that packets for it are dropped: it is "
			 "off, elsewhere, or in another VLAN.",
		.when = WHEN("NEIGH_FAILED, NEIGH_DEAD"),
		.remedy = "ip neigh show dev IFACE nud failed names it; is it the gateway? ip "
			  "route",
		.symptom = "No route to host", ENOUGH },
	  .reasons = { "NEIGH_FAILED", "NEIGH_DEAD" },
	  .what = "were for a neighbour that does not answer",
	  .advice = "which: ip neigh show dev {if} nud failed; is it there, and in this VLAN?" },
	{ .kind = {
		.id = "neighbour-queue-full", .severity = SEVERITY_CRITICAL, .harm = HARM_LOSS,
		.title = "Too many packets wait for a neighbour's address",
		.means = "Until a neighbour has answered, packets for it wait. More came than the "
			 "queue holds (unres_qlen_bytes).",
		.when = WHEN("NEIGH_QUEUEFULL; unresolved_discards"),
		.remedy = "A longer queue: net.ipv4.neigh.IFACE.unres_qlen_bytes.",
		.symptom = "The first packets to a host are lost", ENOUGH },
	  .reasons = { "NEIGH_QUEUEFULL" },
	  .what = "waited for a neighbour's address, with too many others",
	  .fix = "sysctl -w "
	  "net/ipv4/neigh/{if}/unres_qlen_bytes={4*net/ipv4/neigh/{if}/unres_qlen_bytes}",
	  .changes = "room for packets that wait for a neighbour",
	  .advice = "who does not answer: ip neigh show dev {if} nud incomplete" },
	{ .kind = {
		.id = "neighbour-table-full", .severity = SEVERITY_CRITICAL, .harm = HARM_LOSS,
		.title = "The table of neighbours is full",
		.means = "The kernel knows as many hosts of its networks as "
			 "net.ipv4.neigh.default.gc_thresh3 allows, and can reach no further ones.",
		.when = "{1} was dropped in the window (NEIGH_CREATEFAIL; table_fulls)",
		.remedy = "A larger table: gc_thresh1, gc_thresh2, gc_thresh3.",
		.symptom = "Some hosts of a large network cannot be reached", .limits = { &one } },
	  .reasons = { "NEIGH_CREATEFAIL" },
	  .what = "found the table of neighbours full",
	  .fix = "sysctl -w "
	  "net.ipv4.neigh.default.gc_thresh3={4*net.ipv4.neigh.default.gc_thresh3}",
	  .changes = "room for four times as many neighbours" },
	{ .kind = {
		.id = "packet-too-big", .severity = SEVERITY_CRITICAL, .harm = HARM_LOSS,
		.title = "Packets are larger than the MTU",
		.means = "They must not be split (DF, or IPv6), and the interface that they are to "
			 "leave by has a smaller MTU. The sender is told by ICMP, unless a "
			 "firewall drops that.",
		.when = WHEN("PKT_TOO_BIG"),
		.remedy = "Compare the MTU of all of the way: tracepath; let ICMP pass.",
		.symptom = "Small requests work and large answers stall", ENOUGH },
	  .reasons = { "PKT_TOO_BIG" }, .counters = { "IpFragFails" },
	  .what = "were larger than the MTU",
	  .advice = "compare ip link show {if} with the sender's; tracepath DESTINATION" },
	{ .kind = {
		.id = "fragments-lost", .severity = SEVERITY_CRITICAL, .harm = HARM_LOSS,
		.title = "Fragments are dropped, as the rest of their datagram did not come",
		.means = "A datagram is whole when its last fragment is there. One was lost on the "
			 "way, or the memory for waiting fragments was used up, and the others are "
			 "dropped after 30 seconds.",
		.when = WHEN("FRAG_REASM_TIMEOUT, FRAG_TOO_FAR; IpReasmFails"),
		.remedy = "Smaller datagrams at the sender; more memory: "
			  "net.ipv4.ipfrag_high_thresh.",
		.symptom = "Large datagrams are lost, small ones are not", ENOUGH },
	  .reasons = { "FRAG_REASM_TIMEOUT", "FRAG_TOO_FAR" }, .counters = { "IpReasmFails" },
	  .what = "were fragments of a datagram whose rest did not come",
	  .advice = "nstat -az 'IpReasm*'; let the sender make smaller datagrams" },
	{ .kind = {
		.id = "no-memory", .severity = SEVERITY_CRITICAL, .harm = HARM_LOSS,
		.title = "Packets are dropped for want of memory",
		.means = "The kernel could not allocate what it needed for the packet while it "
			 "could not wait.",
		.when = "{1} was dropped in the window (NOMEM)",
		.remedy = "Keep more memory free: vm.min_free_kbytes.",
		.symptom = "Packets are lost while memory is short", .limits = { &one } },
	  .reasons = { "NOMEM" }, .what = "found no memory",
	  .fix = "sysctl -w vm.min_free_kbytes={2*vm.min_free_kbytes}",
	  .changes = "twice as much memory is kept free", .advice = "free -m" },
	{ .kind = {
		.id = "conntrack-full", .severity = SEVERITY_CRITICAL, .harm = HARM_LOSS,
		.title = "The table of connections is full",
		.means = "Connection tracking has net.netfilter.nf_conntrack_max entries, and "
			 "drops the first packet of each further connection.",
		.when = "{1} was dropped in the window (drop of /proc/net/stat/nf_conntrack)",
		.remedy = "A larger table; shorter timeouts; or notrack for what needs none.",
		.symptom = "New connections fail, old ones go on", .limits = { &one } },
	  .counters = { "conntrack:drop" }, .what = "found no room in the table of connections",
	  .fix = "sysctl -w net.netfilter.nf_conntrack_max={2*net.netfilter.nf_conntrack_max}",
	  .changes = "room for twice as many connections" },
};
const unsigned nr_losses = sizeof(losses) / sizeof(*losses);
