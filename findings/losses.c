/* SPDX-License-Identifier: GPL-2.0 */
/* Losses in the stack, before a socket: why packets are dropped, what it means, what helps. */
#include <stddef.h>

#include "bpf/drop/drop.h"
#include "findings/dropping.h"

static const struct limit few = { 10, "10 packets" };
static const struct limit share = { 1e-4, "one in 10000 of the packets of that direction" };
static const struct limit one = { 1, "one" };
/* Some unsolicited traffic is always lost: scans, traceroutes, late answers. */
static const struct limit many = { 50, "50 packets" };
static const struct limit hops = { .003, "0.3% of the packets of that direction" };

#define ENOUGH		.limits = { &few, &share }
#define WHEN(reason)	"at least {1} and {2} were dropped in the window (" reason ")"

static bool in_vlan(const struct drop_key *key)
{
	return key->whom == DROP_FOR_VLAN;
}

static const struct loss stack_losses[] = {
	{ .kind = {
		.id = "vlan-unknown", RATED(WARNING, LOSS),
		RESTS(EITHER, 0, ON(drop) | ON(counters)),
		.title = "Packets arrive in a VLAN that has no device",
		.means = "They carry a VLAN tag, and no VLAN device on this interface has that ID: "
			 "the device is missing, or the switch sends this port a VLAN that it "
			 "should not.",
		.when = WHEN("vlan-unknown"),
		.silent = "Multicast and broadcast of other VLANs.",
		.remedy = "ip link add link IFACE name IFACE.ID type vlan id ID; or remove the "
			  "VLAN from the switch port.",
		.symptom = "A VLAN has no connectivity although its packets arrive", ENOUGH },
	  .reasons = { "OTHERHOST", "UNHANDLED_PROTO" },
	  .what = "arrived in a VLAN for which {if} has no device",
	  .advice = "which VLAN: tcpdump -nnei {if} -c 10 vlan; then ip link add link {if} name "
		    "{if}.ID type vlan id ID, or remove it from the switch port",
	  .meant = in_vlan },
	{ .kind = {
		.id = "rp-filter", RATED(CRITICAL, LOSS),
		RESTS(EITHER, 0, ON(drop) | ON(counters)),
		.title = "Packets come from an address that is routed elsewhere",
		.means = "With rp_filter=1 the kernel drops a packet if the reply would leave "
			 "through another interface: asymmetric routing, or a forged source.",
		.when = WHEN("IP_RPFILTER; TcpExtIPReversePathFilter"),
		.remedy = "If asymmetric routing is intended: rp_filter=2, which accepts a route "
			  "through any interface.",
		.symptom = "One direction works, but no answer arrives", ENOUGH },
	  .reasons = { "IP_RPFILTER" }, .counters = { "TcpExtIPReversePathFilter" },
	  .what = "came from an address that is routed elsewhere (rp_filter)",
	  .fix = "sysctl -w net/ipv4/conf/{if}/rp_filter=2",
	  .changes = "a source is valid if any interface can reach it",
	  .advice = "if they should not arrive here: ip route get ADDRESS" },
	{ .kind = {
		.id = "source-is-own", RATED(WARNING, LOSS),
		RESTS(EITHER, 0, ON(drop) | ON(counters)),
		.title = "Packets arrive with this host's own address as source",
		.means = "Another host uses the same address, or packets of this host come back "
			 "through a loop between switches or bridges. The kernel drops them.",
		.when = WHEN("IP_LOCAL_SOURCE, reported since Linux 6.13"),
		.remedy = "arping -D -I IFACE ADDRESS detects a duplicate address; against a loop "
			  "check bridge link show and spanning tree.",
		.symptom = "Connections of this host break now and then", ENOUGH },
	  .reasons = { "IP_LOCAL_SOURCE" },
	  .what = "arrived with an address of this host as source",
	  .advice = "whose MAC address do they carry? tcpdump -nnei {if} -c 10 inbound; is it a "
		    "duplicate address or a loop?" },
	{ .kind = {
		.id = "source-invalid", RATED(WARNING, LOSS),
		RESTS(EITHER, 0, ON(drop) | ON(counters)),
		.title = "Packets have a source or destination that is invalid on a network",
		.means = "The source is a loopback (127.0.0.0/8), multicast or broadcast address, "
			 "or the destination is a loopback or null address (martians): the sender "
			 "is misconfigured, or forges them.",
		.when = WHEN("IP_INVALID_SOURCE, IP_LOCALNET, IP_INVALID_DEST, reported since "
			     "Linux 6.13"),
		.remedy = "Fix the sender: a NAT rule, or a program bound to 127.0.0.1.",
		.symptom = "A service gets nothing although its packets arrive", ENOUGH },
	  .reasons = { "IP_INVALID_SOURCE", "IP_LOCALNET", "IP_INVALID_DEST" },
	  .what = "had a source or destination that is invalid on a network",
	  .advice = "who sends them: tcpdump -nnei {if} -c 100 'net 127.0.0.0/8 or src net "
		    "224.0.0.0/3'" },
	{ .kind = {
		.id = "protocol-unknown", RATED(WARNING, LOSS),
		RESTS(EITHER, 0, ON(drop) | ON(counters)),
		.title = "Packets carry an IP protocol that has no handler",
		.means = "They are for this host, but neither the kernel nor a program handles "
			 "this protocol: the tunnel (gre, ipip, esp) is not configured, or its "
			 "program is not running.",
		.when = WHEN("IP_NOPROTO; IpInUnknownProtos"),
		.remedy = "Configure the tunnel, or inform the sender.",
		.symptom = "A tunnel has no connectivity although its packets arrive", ENOUGH },
	  .reasons = { "IP_NOPROTO" }, .counters = { "IpInUnknownProtos" },
	  .what = "carried an IP protocol that has no handler",
	  .advice = "which protocol: tcpdump -nni {if} -c 10 'not (tcp or udp or icmp)'; is its "
		    "tunnel configured? ip tunnel show; ip xfrm state" },
	{ .kind = {
		.id = "checksum-bad", RATED(CRITICAL, LOSS),
		RESTS(EITHER, 0, ON(drop) | ON(counters)),
		.title = "Packets arrive with a wrong checksum",
		.means = "Bytes were corrupted in a cable, a switch or a card; or the sender's "
			 "offload did not fill in the checksum.",
		.when = WHEN("IP_CSUM, TCP_CSUM, UDP_CSUM; TcpInCsumErrors, UdpInCsumErrors, "
			     "Udp6InCsumErrors"),
		.remedy = "ethtool -S IFACE for link errors; another cable. If only one sender is "
			  "affected, there: ethtool -K IFACE tx off.",
		.symptom = "Connections are slow and retransmit at any load", ENOUGH },
	  .reasons = { "IP_CSUM", "TCP_CSUM", "UDP_CSUM", "ICMP_CSUM" },
	  .counters = { "TcpInCsumErrors", "UdpInCsumErrors", "Udp6InCsumErrors" },
	  /* what recv() finds wrong is of no interface any more (udp_recvmsg()) */
	  .what = "arrived with a wrong checksum", .untraced = true,
	  .advice = "check cable, switch and card: ethtool -S {if}; who sends them: tcpdump -nnvi "
		    "{if} -c 100" },
	{ .kind = {
		.id = "no-hops-left", RATED(WARNING, LOSS),
		RESTS(EITHER, 0, ON(drop) | ON(counters)),
		.title = "Packets have a bad IP header or an expired TTL",
		.means = "The header is damaged or announces more bytes than arrived, or the "
			 "packet was forwarded until its TTL expired: a routing loop.",
		.when = WHEN("IP_INHDR, PKT_TOO_SMALL"),
		.silent = "A traceroute, whose packets are meant to expire.",
		.remedy = "traceroute to the destination shows the loop.",
		.symptom = "A destination cannot be reached", .limits = { &many, &hops } },
	  .reasons = { "IP_INHDR", "TCP_MINTTL", "PKT_TOO_SMALL" },
	  .what = "had a bad IP header or an expired TTL",
	  .advice = "a routing loop? tcpdump -nvi {if} 'ip[8] <= 1'; traceroute" },
	{ .kind = {
		.id = "no-route-in", RATED(CRITICAL, LOSS),
		RESTS(EITHER, 0, ON(drop) | ON(counters)),
		.title = "Packets are to be forwarded but have no route",
		.means = "This host forwards packets, and has no route to their destination.",
		.when = WHEN("IP_INNOROUTES; IpInNoRoutes"),
		.remedy = "ip route get DESTINATION iif IFACE shows it; add the route.",
		.symptom = "A network behind this router cannot be reached", ENOUGH },
	  .reasons = { "IP_INNOROUTES" }, .counters = { "IpExtInNoRoutes" },
	  .what = "were to be forwarded and had no route",
	  .advice = "ip route get DESTINATION iif {if}; who sends them: tcpdump -nni {if} -c 100" },
	{ .kind = {
		.id = "route-refuses", RATED(WARNING, LOSS),
		RESTS(EITHER, 0, ON(drop) | ON(counters)),
		.title = "Packets go to a destination that a route rejects",
		.means = "The matching route is of type blackhole, unreachable or prohibit. The "
			 "packet is dropped; except for blackhole, the sender gets an ICMP error.",
		.when = WHEN("NOT_SPECIFIED in ip_error or dst_discard"),
		.remedy = "ip route show table all type blackhole (unreachable, prohibit); ip "
			  "rule. The route may be intentional.",
		.symptom = "A network behind this router cannot be reached", ENOUGH },
	  .reasons = { "NOT_SPECIFIED@ip_error", "NOT_SPECIFIED@dst_discard" },
	  .what = "went to a destination that a route rejects (blackhole, unreachable, prohibit)",
	  .advice = "ip route show table all | grep -E 'blackhole|unreachable|prohibit'; ip rule; "
		    "destinations: tcpdump -nni {if} -c 100" },
	{ .kind = {
		.id = "not-forwarding", RATED(WARNING, LOSS),
		RESTS(EITHER, 0, ON(drop) | ON(counters)),
		.title = "Packets are for another host, and this host does not forward",
		.means = "They carry this host's MAC address and a foreign IP address: the sender "
			 "uses this host as a router.",
		.when = WHEN("IP_INADDRERRORS in ip_error; IpInAddrErrors"),
		.remedy = "To make it a router: net.ipv4.conf.IFACE.forwarding=1; otherwise fix "
			  "the sender's route.",
		.symptom = "A network behind this host cannot be reached", ENOUGH },
	  .reasons = { "IP_INADDRERRORS@ip_error" }, .counters = { "IpInAddrErrors" },
	  .what = "were for another host, and {if} does not forward",
	  .advice = "who sends them: tcpdump -nni {if} -c 100; to make this host their router: "
		    "sysctl -w net/ipv4/conf/{if}/forwarding=1" },
	{ .kind = {
		.id = "no-route-out", RATED(CRITICAL, LOSS),
		RESTS(EITHER, 0, ON(drop) | ON(counters)),
		.title = "Programs send to a destination without a route",
		.means = "A program sends to a destination that no route covers.",
		.when = WHEN("IP_OUTNOROUTES; IpOutNoRoutes"),
		.remedy = "ip route get DESTINATION",
		.symptom = "A destination cannot be reached", ENOUGH,
		.follows = { "link-down" } },
	  .reasons = { "IP_OUTNOROUTES" }, .counters = { "IpOutNoRoutes" },
	  /* sendto() and connect() fail before there is a packet */
	  .what = "were sent without a route", .untraced = true,
	  .advice = "ip route get DESTINATION" },
	{ .kind = {
		.id = "neighbour-dead", RATED(CRITICAL, LOSS),
		RESTS(EITHER, 0, ON(drop) | ON(counters)),
		.title = "A neighbour does not answer",
		.means = "The next hop did not answer address resolution (ARP, neighbour "
			 "discovery): it is off, has moved, or is in another VLAN. Packets for it "
			 "are dropped, first those that exceed the queue of waiting packets, then "
			 "all.",
		.when = WHEN("NEIGH_FAILED, NEIGH_DEAD; NEIGH_QUEUEFULL while a neighbour does not "
			     "answer"),
		.remedy = "ip neigh show dev IFACE nud failed names it; is it the gateway? ip "
			  "route",
		.symptom = "No route to host", ENOUGH, .follows = { "link-down" } },
	  .reasons = { "NEIGH_FAILED", "NEIGH_DEAD", "NOT_SPECIFIED@neigh_invalidate",
		       "NOT_SPECIFIED@ndisc_error_report" },
	  .if_silent = "NEIGH_QUEUEFULL", .what = "were for a neighbour that does not answer",
	  .advice = "which: ip neigh show dev {if} nud failed; is it up, and in this VLAN?" },
	{ .kind = {
		.id = "neighbour-queue-full", RATED(CRITICAL, LOSS),
		RESTS(EITHER, 0, ON(drop) | ON(counters)),
		.title = "Too many packets wait for a neighbour's address",
		.means = "Packets for a neighbour wait until its address is resolved. More arrived "
			 "than the queue holds (unres_qlen_bytes).",
		.when = WHEN("NEIGH_QUEUEFULL; unresolved_discards"),
		.remedy = "A longer queue: net.ipv4.neigh.IFACE.unres_qlen_bytes, and that of "
			  "net.ipv6.",
		.symptom = "The first packets to a host are lost", ENOUGH,
		.follows = { "neighbour-dead", "link-down" } },
	  .reasons = { "NEIGH_QUEUEFULL" }, .unless_silent = true,
	  .what = "waited for a neighbour's address and overflowed the queue",
	  .fix = "sysctl -w "
	  "net/ipv4/neigh/{if}/unres_qlen_bytes={4*net/ipv4/neigh/{if}/unres_qlen_bytes}",
	  .fix_also =
	  "net/ipv6/neigh/{if}/unres_qlen_bytes={4*net/ipv6/neigh/{if}/unres_qlen_bytes}",
	  .changes = "a queue four times as long for packets that wait for a neighbour",
	  .advice = "which neighbour does not answer: ip neigh show dev {if} nud incomplete" },
	{ .kind = {
		.id = "neighbour-table-full", RATED(CRITICAL, LOSS),
		RESTS(EITHER, 0, ON(drop) | ON(counters)),
		.title = "The neighbour table is full",
		.means = "The kernel holds as many neighbours as net.ipv4.neigh.default.gc_thresh3 "
			 "allows, and cannot reach any further hosts of its networks.",
		.when = "at least {1} packet was dropped in the window (NEIGH_CREATEFAIL; "
			"table_fulls)",
		.remedy = "A larger table: gc_thresh1, gc_thresh2, gc_thresh3.",
		.symptom = "Some hosts of a large network cannot be reached", .limits = { &one } },
	  .reasons = { "NEIGH_CREATEFAIL" },
	  .what = "found the neighbour table full",
	  .fix = "sysctl -w "
	  "net.ipv4.neigh.default.gc_thresh3={4*net.ipv4.neigh.default.gc_thresh3}",
	  .changes = "room for four times as many neighbours" },
	{ .kind = {
		.id = "packet-too-big", RATED(CRITICAL, LOSS),
		RESTS(EITHER, 0, ON(drop) | ON(counters)),
		.title = "Packets exceed the MTU",
		.means = "They must not be fragmented (DF, or IPv6), and the outgoing interface "
			 "has a smaller MTU. ICMP notifies the sender, unless a firewall drops it. "
			 "A bridge drops what is too long for a port, and notifies nobody.",
		.when = WHEN("PKT_TOO_BIG, NOT_SPECIFIED in br_dev_queue_push_xmit"),
		.remedy = "Compare the MTU along the path: tracepath; let ICMP pass.",
		.symptom = "Small requests work, large responses stall", ENOUGH },
	  .reasons = { "PKT_TOO_BIG", "NOT_SPECIFIED@br_dev_queue_push_xmit" },
	  .counters = { "IpFragFails" },
	  .what = "exceeded the MTU",
	  .advice = "compare ip link show {if} with the sender's MTU; tracepath DESTINATION" },
	{ .kind = {
		.id = "peer-mtu-smaller", RATED(CRITICAL, LOSS),
		RESTS(EITHER, 0, ON(drop) | ON(counters)),
		.title = "Packets exceed the MTU of the veth peer",
		.means = "This veth passes its packets to its peer, whose MTU is smaller. Longer "
			 "packets are dropped there without notice to the sender: an MTU black "
			 "hole.",
		.when = WHEN("NOT_SPECIFIED in __dev_forward_skb"),
		.remedy = "Set the same MTU at both ends: ip link set dev IFACE mtu N.",
		.symptom = "Small requests work, large responses stall", ENOUGH },
	  .reasons = { "NOT_SPECIFIED@__dev_forward_skb", "NOT_SPECIFIED@dev_forward_skb" },
	  .what = "exceeded the MTU of the peer of {if}",
	  .advice = "set the same MTU at both ends: ip link show {if} shows this MTU and where the "
		    "peer is (link-netns); ip link set dev {if} mtu N" },
	{ .kind = {
		.id = "fragments-lost", RATED(CRITICAL, LOSS),
		RESTS(EITHER, 0, ON(drop) | ON(counters)),
		.title = "Fragments are dropped because their datagram stayed incomplete",
		.means = "A datagram can be delivered only with all of its fragments. One was lost "
			 "on the way, or the reassembly memory was exhausted, and the others are "
			 "dropped after 30 seconds.",
		.when = WHEN("FRAG_REASM_TIMEOUT, FRAG_TOO_FAR, NOT_SPECIFIED in ip_defrag or "
			     "ipv6_frag_rcv; IpReasmFails"),
		.remedy = "Smaller datagrams at the sender; more reassembly memory: "
			  "net.ipv4.ipfrag_high_thresh.",
		.symptom = "Large datagrams are lost, small ones are not", ENOUGH },
	  .reasons = { "FRAG_REASM_TIMEOUT", "FRAG_TOO_FAR", "NOT_SPECIFIED@ip_defrag",
		       "NOT_SPECIFIED@ipv6_frag_rcv" }, .counters = { "IpReasmFails" },
	  .what = "were fragments of a datagram that stayed incomplete",
	  .advice = "nstat -az 'IpReasm*'; have the sender send smaller datagrams; is reassembly "
		    "memory exhausted? /proc/net/sockstat, net.ipv4.ipfrag_high_thresh" },
	{ .kind = {
		.id = "no-memory", RATED(CRITICAL, LOSS),
		RESTS(EITHER, 0, ON(drop) | ON(counters)),
		.title = "Packets are dropped because memory is short",
		.means = "The kernel could not allocate memory for the packet in a context that "
			 "may not sleep.",
		.when = "at least {1} packet was dropped in the window (NOMEM)",
		.remedy = "Keep more memory free: vm.min_free_kbytes.",
		.symptom = "Packets are lost when memory is short", .limits = { &one } },
	  .reasons = { "NOMEM" }, .what = "got no memory",
	  .fix = "sysctl -w vm.min_free_kbytes={2*vm.min_free_kbytes}",
	  .changes = "keeps twice as much memory free",
	  .advice = "free -m" },
	{ .kind = {
		.id = "conntrack-full", RATED(CRITICAL, LOSS),
		RESTS(EITHER, 0, ON(drop) | ON(counters)),
		.title = "The connection tracking table is full",
		.means = "Connection tracking holds net.netfilter.nf_conntrack_max entries, and "
			 "drops the first packet of each further connection.",
		.when = "at least {1} packet was dropped in the window (drop of "
			"/proc/net/stat/nf_conntrack)",
		.remedy = "A larger table; shorter timeouts; or notrack for traffic that needs no "
			  "tracking.",
		.symptom = "New connections fail, established ones continue", .limits = { &one } },
	  .counters = { "conntrack:drop" }, .what = "found the connection tracking table full",
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
