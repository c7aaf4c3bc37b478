/* SPDX-License-Identifier: GPL-2.0 */
/* The losses before a socket: why the stack throws packets away, what it means, what helps. */
#include <stddef.h>

#include "bpf/drop/drop.h"
#include "findings/dropping.h"

static const struct limit few = { 10, "10 packets" };
static const struct limit share = { 1e-4, "one in 10000 of the packets of that direction" };
static const struct limit one = { 1, "one" };
/* Of what strangers send some is always lost: scans, traceroutes, answers that come too late. */
static const struct limit many = { 50, "50 packets" };
static const struct limit hops = { .003, "0.3% of the packets of that direction" };

#define ENOUGH		.limits = { &few, &share }
#define WHEN(reason)	"{1} and {2} were dropped in the window (" reason ")"

static bool in_vlan(const struct drop_key *key)
{
	return key->whom == DROP_FOR_VLAN;
}

static const struct loss stack_losses[] = {
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
		.id = "source-is-own", .severity = SEVERITY_WARNING, .harm = HARM_LOSS,
		.title = "Packets arrive with this host's own address as their source",
		.means = "Another host has the same address, or what this one sent comes back: a "
			 "loop between switches or bridges. The kernel drops them.",
		.when = WHEN("IP_LOCAL_SOURCE, which Linux tells since 6.13"),
		.remedy = "arping -D -I IFACE ADDRESS asks whether somebody else has it; bridge "
			  "link show, and spanning tree, against a loop.",
		.symptom = "Connections of this host break now and then", ENOUGH },
	  .reasons = { "IP_LOCAL_SOURCE" },
	  .what = "came with an address of this host as their source",
	  .advice = "whose hardware address do they have? tcpdump -nnei {if} -c 10 inbound; has "
		    "another host the address, or is there a loop?" },
	{ .kind = {
		.id = "source-invalid", .severity = SEVERITY_WARNING, .harm = HARM_LOSS,
		.title = "Packets come from, or are for, an address that cannot be on a network",
		.means = "A loopback (127.0.0.0/8), multicast or broadcast address as the source, "
			 "or a loopback or null address as the destination (martians): the sender "
			 "is set up wrongly, or forges them.",
		.when = WHEN("IP_INVALID_SOURCE, IP_LOCALNET, IP_INVALID_DEST, which Linux tells "
			     "since 6.13"),
		.remedy = "Mend the sender: a rule that translates addresses, a program that is "
			  "bound to 127.0.0.1.",
		.symptom = "A service gets nothing though its packets arrive", ENOUGH },
	  .reasons = { "IP_INVALID_SOURCE", "IP_LOCALNET", "IP_INVALID_DEST" },
	  .what = "had a source or destination that cannot be on a network",
	  .advice = "who sends them: tcpdump -nnei {if} -c 100 'net 127.0.0.0/8 or src net "
		    "224.0.0.0/3'" },
	{ .kind = {
		.id = "protocol-unknown", .severity = SEVERITY_WARNING, .harm = HARM_LOSS,
		.title = "Packets are of an IP protocol that nobody here speaks",
		.means = "They are for this host, and neither the kernel nor a program takes this "
			 "protocol: the module of a tunnel (gre, ipip, esp) is not set up, or its "
			 "program is not running.",
		.when = WHEN("IP_NOPROTO; IpInUnknownProtos"),
		.remedy = "Set the tunnel up, or tell the sender.",
		.symptom = "A tunnel has no connection, though its packets arrive", ENOUGH },
	  .reasons = { "IP_NOPROTO" }, .counters = { "IpInUnknownProtos" },
	  .what = "were of an IP protocol that nobody here speaks",
	  .advice = "which: tcpdump -nni {if} -c 10 'not (tcp or udp or icmp)'; is its tunnel "
		    "there? ip tunnel show; ip xfrm state" },
	{ .kind = {
		.id = "checksum-bad", .severity = SEVERITY_CRITICAL, .harm = HARM_LOSS,
		.title = "Packets arrive with a wrong checksum",
		.means = "Bytes changed on the way, in a cable, a switch or a card; or the "
			 "sender's offload did not fill the checksum in.",
		.when = WHEN("IP_CSUM, TCP_CSUM, UDP_CSUM; TcpInCsumErrors, UdpInCsumErrors, "
			     "Udp6InCsumErrors"),
		.remedy = "ethtool -S IFACE for errors of the link; another cable. If one sender's "
			  "are wrong: its ethtool -K IFACE tx off.",
		.symptom = "Connections are slow, with retransmissions, at any load", ENOUGH },
	  .reasons = { "IP_CSUM", "TCP_CSUM", "UDP_CSUM", "ICMP_CSUM" },
	  .counters = { "TcpInCsumErrors", "UdpInCsumErrors", "Udp6InCsumErrors" },
	  /* what recv() finds wrong is of no interface any more (udp_recvmsg()) */
	  .what = "arrived with a wrong checksum", .untraced = true,
	  .advice = "a cable, a switch or a card: ethtool -S {if}; who sends them: tcpdump -nnvi "
	  "{if} -c 100" },
	{ .kind = {
		.id = "no-hops-left", .severity = SEVERITY_WARNING, .harm = HARM_LOSS,
		.title = "Packets have a bad IP header or no hops left",
		.means = "The header is damaged, tells of more bytes than came, or a packet was "
			 "forwarded so often that its TTL is used up: a loop in the routing.",
		.when = WHEN("IP_INHDR, PKT_TOO_SMALL"),
		.silent = "A traceroute: its packets are meant to run out of hops.",
		.remedy = "traceroute to the destination, to see the loop.",
		.symptom = "A destination cannot be reached", .limits = { &many, &hops } },
	  .reasons = { "IP_INHDR", "TCP_MINTTL", "PKT_TOO_SMALL" },
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
		.id = "route-refuses", .severity = SEVERITY_WARNING, .harm = HARM_LOSS,
		.title = "Packets are for a destination that the routes refuse",
		.means = "The route that fits is a blackhole, unreachable or prohibit one, and the "
			 "packet is dropped, with an ICMP error but for a blackhole.",
		.when = WHEN("NOT_SPECIFIED in ip_error or dst_discard"),
		.remedy = "ip route show table all type blackhole (unreachable, prohibit); ip "
			  "rule. Somebody put it there, perhaps to do just that.",
		.symptom = "A network behind this router cannot be reached", ENOUGH },
	  .reasons = { "NOT_SPECIFIED@ip_error", "NOT_SPECIFIED@dst_discard" },
	  .what = "were for a destination that a route refuses (blackhole, unreachable, "
		  "prohibit)",
	  .advice = "ip route show table all | grep -E 'blackhole|unreachable|prohibit'; ip rule; "
		    "for whom: tcpdump -nni {if} -c 100" },
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
		.symptom = "A destination cannot be reached", ENOUGH,
		.follows = { "link-down" } },
	  .reasons = { "IP_OUTNOROUTES" }, .counters = { "IpOutNoRoutes" },
	  /* sendto() and connect() fail before there is a packet */
	  .what = "were sent, and there is no route", .untraced = true,
	  .advice = "ip route get DESTINATION" },
	{ .kind = {
		.id = "neighbour-dead", .severity = SEVERITY_CRITICAL, .harm = HARM_LOSS,
		.title = "A neighbour does not answer",
		.means = "The next hop was asked for its hardware address (ARP, neighbour "
			 "discovery) and did not answer, so that packets for it are dropped, and "
			 "before that those for which there is no more room to wait: it is off, "
			 "elsewhere, or in another VLAN.",
		.when = WHEN("NEIGH_FAILED, NEIGH_DEAD; NEIGH_QUEUEFULL, if one does not "
			     "answer now"),
		.remedy = "ip neigh show dev IFACE nud failed names it; is it the gateway? ip "
			  "route",
		.symptom = "No route to host", ENOUGH, .follows = { "link-down" } },
	  .reasons = { "NEIGH_FAILED", "NEIGH_DEAD", "NOT_SPECIFIED@neigh_invalidate",
		       "NOT_SPECIFIED@ndisc_error_report" },
	  .if_silent = "NEIGH_QUEUEFULL", .what = "were for a neighbour that does not answer",
	  .advice = "which: ip neigh show dev {if} nud failed; is it there, and in this VLAN?" },
	{ .kind = {
		.id = "neighbour-queue-full", .severity = SEVERITY_CRITICAL, .harm = HARM_LOSS,
		.title = "Too many packets wait for a neighbour's address",
		.means = "Until a neighbour has answered, packets for it wait. More came than the "
			 "queue holds (unres_qlen_bytes).",
		.when = WHEN("NEIGH_QUEUEFULL; unresolved_discards"),
		.remedy = "A longer queue: net.ipv4.neigh.IFACE.unres_qlen_bytes.",
		.symptom = "The first packets to a host are lost", ENOUGH,
		.follows = { "neighbour-dead", "link-down" } },
	  .reasons = { "NEIGH_QUEUEFULL" }, .unless_silent = true,
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
		.id = "peer-mtu-smaller", .severity = SEVERITY_CRITICAL, .harm = HARM_LOSS,
		.title = "Packets are longer than the MTU of the other end",
		.means = "This veth hands its packets to its other end, whose MTU is smaller, and "
			 "what is longer than that is dropped there without a word to the sender: "
			 "a black hole.",
		.when = WHEN("NOT_SPECIFIED in __dev_forward_skb"),
		.remedy = "The same MTU at both ends: ip link set dev IFACE mtu N.",
		.symptom = "Small requests work and large answers stall", ENOUGH },
	  .reasons = { "NOT_SPECIFIED@__dev_forward_skb", "NOT_SPECIFIED@dev_forward_skb" },
	  .what = "were longer than the MTU of the other end of {if}",
	  .advice = "the same MTU at both ends: ip link show {if} tells this one's and where the "
		    "other is (link-netns); ip link set dev {if} mtu N" },
	{ .kind = {
		.id = "fragments-lost", .severity = SEVERITY_CRITICAL, .harm = HARM_LOSS,
		.title = "Fragments are dropped, as the rest of their datagram did not come",
		.means = "A datagram is whole when its last fragment is there. One was lost on the "
			 "way, or the memory for waiting fragments was used up, and the others are "
			 "dropped after 30 seconds.",
		.when = WHEN("FRAG_REASM_TIMEOUT, FRAG_TOO_FAR, NOT_SPECIFIED in ip_defrag or "
			     "ipv6_frag_rcv; IpReasmFails"),
		.remedy = "Smaller datagrams at the sender; more memory: "
			  "net.ipv4.ipfrag_high_thresh.",
		.symptom = "Large datagrams are lost, small ones are not", ENOUGH },
	  .reasons = { "FRAG_REASM_TIMEOUT", "FRAG_TOO_FAR", "NOT_SPECIFIED@ip_defrag",
		       "NOT_SPECIFIED@ipv6_frag_rcv" }, .counters = { "IpReasmFails" },
	  .what = "were fragments of a datagram whose rest did not come",
	  .advice = "nstat -az 'IpReasm*'; let the sender make smaller datagrams; is the memory "
		    "for them used up? /proc/net/sockstat, net.ipv4.ipfrag_high_thresh" },
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
	{}
};

/* Those of sockets come first, as they are listed. */
const struct loss *loss_at(unsigned nr)
{
	unsigned i = 0;

	for (; socket_losses[i].kind.id; i++)
		if (i == nr)
			return &socket_losses[i];
	for (unsigned k = 0; stack_losses[k].kind.id; k++, i++)
		if (i == nr)
			return &stack_losses[k];
	return NULL;
}
