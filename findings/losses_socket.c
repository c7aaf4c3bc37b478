/* SPDX-License-Identifier: GPL-2.0 */
/* Losses at sockets: why packets are dropped, what it means, what helps. */
#include <string.h>

#include "bpf/drop/drop.h"
#include "findings/dropping.h"
#include "lib/kernel/symbol.h"

static const struct limit few = { 10, "10 packets" };
static const struct limit share = { 1e-4, "one in 10000 of the packets of that direction" };
static const struct limit one = { 1, "one" };
/* Some unsolicited traffic is always lost: scans, traceroutes, late answers. */
static const struct limit many = { 50, "50 packets" };
static const struct limit thirtieth = { .03, "3% of the packets of that direction" };
static const struct limit opened = { .003, "0.3% of the packets of that direction" };

#define ENOUGH		.limits = { &few, &share }
#define WHEN(reason)	"at least {1} and {2} were dropped in the window (" reason ")"

static bool in_udp(const struct drop_key *key)
{
	const char *symbol = symbol_at(key->location);

	return symbol && (strstr(symbol, "udp") || strstr(symbol, "UDP"));
}

static bool for_port(const struct drop_key *key)
{
	return key->whom == DROP_FOR_PORT;
}

const struct loss socket_losses[] = {
	{ .kind = {
		.id = "socket-full", RATED(CRITICAL, LOSS),
		RESTS(EITHER, 0, ON(drop) | ON(counters)),
		.title = "The receive buffer of a socket is full",
		.means = "The program has not read earlier packets, so the receive buffer of its "
			 "socket (SO_RCVBUF) is full and new packets are dropped. UDP does not "
			 "retransmit them.",
		.when = WHEN("SOCKET_RCVBUFF; UdpRcvbufErrors"),
		.remedy = "Make the program read faster (more threads: SO_REUSEPORT). Against "
			  "bursts enlarge its buffer: SO_RCVBUF up to net.core.rmem_max, or "
			  "net.core.rmem_default for sockets opened later. A larger buffer does "
			  "not help a program that is always too slow, is stopped, or set a small "
			  "buffer itself. The finding names the UDP socket that lost most, if "
			  "sock_diag reports it.",
		.symptom = "A program misses datagrams", ENOUGH },
	  .reasons = { "SOCKET_RCVBUFF" }, .counters = { "UdpRcvbufErrors", "Udp6RcvbufErrors" },
	  .what = "found the receive buffer of their socket full",
	  .fix = "sysctl -w net.core.rmem_max={4*net.core.rmem_max} "
		 "net.core.rmem_default={4*net.core.rmem_default}",
	  .changes = "four times the buffer for sockets opened from now on",
	  .advice = "which program: ss -uamp; it reads too slowly, or needs a larger SO_RCVBUF",
	  .of_sockets = true, .only_bursts = true },
	{ .kind = {
		.id = "tcp-backlog-full", RATED(CRITICAL, LOSS),
		RESTS(EITHER, 0, ON(drop) | ON(counters)),
		.title = "TCP segments find the backlog of their busy socket full",
		.means = "While a program is in a system call on its socket, segments wait in the "
			 "socket's backlog. Segments that find it full are dropped and must be "
			 "retransmitted.",
		.when = WHEN("SOCKET_BACKLOG; TcpExtTCPBacklogDrop"),
		.remedy = "A larger buffer: net.ipv4.tcp_rmem, net.core.rmem_max; or more CPU time "
			  "for the program.",
		.symptom = "A fast TCP connection has retransmissions", ENOUGH },
	  .reasons = { "SOCKET_BACKLOG" }, .counters = { "TcpExtTCPBacklogDrop" },
	  .what = "found the backlog of their busy TCP socket full",
	  .fix = "sysctl -w net.core.rmem_max={4*net.core.rmem_max}",
	  .changes = "room for sockets opened from now on",
	  .advice = "which program: ss -tamp; make it read faster" },
	{ .kind = {
		.id = "tcp-window-closed", RATED(WARNING, LOSS),
		RESTS(EITHER, 0, ON(drop) | ON(counters)),
		.title = "Segments arrive at a closed TCP window",
		.means = "The program does not read, its buffer is full, and the window is closed. "
			 "The sender probes it, or had sent before it learned of that.",
		.when = WHEN("TCP_ZEROWINDOW"),
		.remedy = "Make the program read faster.",
		.symptom = "A TCP connection stalls and resumes", ENOUGH },
	  .reasons = { "TCP_ZEROWINDOW" },
	  .what = "found the window of their TCP socket closed",
	  .advice = "which program: ss -tamp; make it read faster" },
	{ .kind = {
		.id = "tcp-out-of-order-full", RATED(WARNING, LOSS),
		RESTS(EITHER, 0, ON(drop) | ON(counters)),
		.title = "Out-of-order segments find the socket's buffer full",
		.means = "TCP keeps segments that arrive too early in the socket's buffer. The "
			 "buffer was full, so they were dropped and must be retransmitted.",
		.when = WHEN("TCP_OFO_QUEUE_PRUNE, TCP_OFO_DROP"),
		.remedy = "A larger third value in net.ipv4.tcp_rmem; look for the losses that "
			  "cause the gaps: ss -tim.",
		.symptom = "A fast TCP connection has retransmissions", ENOUGH },
	  .reasons = { "TCP_OFO_*" },
	  .what = "arrived out of order and found the buffer of their TCP socket full",
	  .advice = "ss -tim; a larger third value in sysctl net.ipv4.tcp_rmem" },
	{ .kind = {
		.id = "protocol-memory", RATED(CRITICAL, LOSS),
		RESTS(EITHER, 0, ON(drop) | ON(counters)),
		.title = "The memory for all sockets of a protocol is exhausted",
		.means = "All UDP or all TCP sockets together use as many pages as "
			 "net.ipv4.udp_mem or tcp_mem allows. Every further packet is dropped, "
			 "whichever socket it is for.",
		.when = WHEN("PROTO_MEM"),
		.remedy = "Find who holds it (ss -uamp, /proc/net/sockstat), or raise udp_mem or "
			  "tcp_mem.",
		.symptom = "All programs miss packets at the same time", ENOUGH },
	  .reasons = { "PROTO_MEM" },
	  .what = "found the memory for all sockets of their protocol exhausted",
	  .advice = "compare /proc/net/sockstat with sysctl net.ipv4.udp_mem net.ipv4.tcp_mem, and "
		    "raise these" },
	{ .kind = {
		.id = "accept-queue-full", RATED(CRITICAL, LOSS),
		RESTS(EITHER, 0, ON(drop) | ON(counters)),
		.title = "The accept queue of a listening socket is full",
		.means = "A server accepts connections more slowly than they arrive. Further "
			 "handshakes are dropped, and the client retries after a second.",
		.when = "at least {1} packet was dropped in the window (TCP_LISTEN_OVERFLOW; "
			"TcpExtListenOverflows)",
		.remedy = "Accept faster; a larger listen backlog, up to net.core.somaxconn.",
		.symptom = "Connections take a second or more to open", .limits = { &one } },
	  .reasons = { "TCP_LISTEN_OVERFLOW" }, .counters = { "TcpExtListenOverflows" },
	  .what = "to open connections found the accept queue full", .untraced = true,
	  .fix = "sysctl -w net.core.somaxconn={2*net.core.somaxconn}",
	  .changes = "the maximum backlog for later calls of listen(2)",
	  .advice = "which server: ss -lnt (Recv-Q above Send-Q); it must accept faster, or pass a "
		    "larger backlog to listen(2)" },
	{ .kind = {
		.id = "syn-queue-full", RATED(CRITICAL, LOSS),
		RESTS(EITHER, 0, ON(drop) | ON(counters)),
		.title = "The queue of half-open connections is full",
		.means = "The first packet of a connection (SYN) waits there until the client "
			 "completes the handshake. More arrived than it holds, perhaps from "
			 "clients that never answer (a SYN flood), and without SYN cookies further "
			 "ones are dropped.",
		.when = "at least {1} were dropped by a listening socket whose accept queue had "
			"room (TcpExtListenDrops less TcpExtListenOverflows, of the namespace)",
		.remedy = "SYN cookies: net.ipv4.tcp_syncookies=1; or a longer queue: "
			  "net.ipv4.tcp_max_syn_backlog and the listen backlog.",
		.symptom = "Connections take a second or more to open", .limits = { &few } },
	  .counters = { "TcpExtListenDrops", "-TcpExtListenOverflows" },
	  .what = "to open connections found the queue of half-open connections full",
	  .fix = "sysctl -w net.ipv4.tcp_syncookies=1",
	  .changes = "answers with a SYN cookie when the queue is full",
	  .advice = "who sends them: ss -nt state syn-recv" },
	{ .kind = {
		.id = "tcp-port-closed", RATED(WARNING, LOSS),
		RESTS(EITHER, 0, ON(drop) | ON(counters)),
		.title = "Connections are opened to a closed TCP port",
		.means = "A client connects to this host, and no program listens on that port. "
			 "Each attempt is answered with a reset: connection refused.",
		.when = "at least {1} and {2} were SYNs that found no socket (port-closed)",
		.silent = "Scans of a few ports.",
		.remedy = "Start the program, or inform the sender.",
		.symptom = "Connection refused", .limits = { &many, &opened } },
	  .reasons = { "NO_SOCKET" }, .meant = for_port,
	  .what = "opened a connection to a TCP port on which nothing listens",
	  .advice = "what listens: ss -lnt; who connects: tcpdump -nni {if} -c 100 "
		    "'tcp[13] & 18 == 2'" },
	{ .kind = {
		.id = "udp-port-closed", RATED(WARNING, LOSS),
		RESTS(EITHER, 0, ON(drop) | ON(counters)),
		.title = "Datagrams arrive at a closed UDP port",
		.means = "A host sends UDP here, and no program has that port open. Each datagram "
			 "is dropped and answered with an ICMP error.",
		.when = WHEN("NO_SOCKET in UDP; UdpNoPorts"),
		.silent = "Replies to pings and segments of just-closed connections, which the "
			  "kernel drops with the same reason; a traceroute, a scan, and replies "
			  "(DNS) that arrive after the program gave up.",
		.remedy = "Start the program, or inform the sender.",
		.symptom = "A service gets nothing although its packets arrive",
		.limits = { &many, &thirtieth } },
	  .reasons = { "NO_SOCKET" }, .counters = { "UdpNoPorts", "Udp6NoPorts" },
	  .what = "went to a UDP port on which nothing listens",
	  .advice = "what listens: ss -lnu; who sends: tcpdump -nni {if} -c 100 udp",
	  .meant = in_udp },
	{}
};
