/* SPDX-License-Identifier: GPL-2.0 */
/* The losses at sockets: why they throw packets away, what it means, what helps. */
#include <string.h>

#include "bpf/drop/drop.h"
#include "findings/dropping.h"
#include "lib/kernel/symbol.h"

static const struct limit few = { 10, "10 packets" };
static const struct limit share = { 1e-4, "one in 10000 of the packets of that direction" };
static const struct limit one = { 1, "one" };
/* Of what strangers send some is always lost: scans, traceroutes, answers that come too late. */
static const struct limit many = { 50, "50 packets" };
static const struct limit thirtieth = { .03, "3% of the packets of that direction" };
static const struct limit opened = { .003, "0.3% of the packets of that direction" };

#define ENOUGH		.limits = { &few, &share }
#define WHEN(reason)	"{1} and {2} were dropped in the window (" reason ")"

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
		.id = "socket-full", .severity = SEVERITY_CRITICAL, .harm = HARM_LOSS,
		.title = "The receive buffer of a socket is full",
		.means = "The packet was for a program that had not read those before it. Its "
			 "socket's buffer (SO_RCVBUF) was full, and the packet was thrown away. "
			 "For UDP it is gone.",
		.when = WHEN("SOCKET_RCVBUFF; UdpRcvbufErrors"),
		.remedy = "Let the program read faster (more threads: SO_REUSEPORT). Against "
			  "bursts give it room: SO_RCVBUF up to net.core.rmem_max, or "
			  "net.core.rmem_default, which sockets opened from then on have. Room "
			  "does not help a program that is always slower than what comes, one that "
			  "is stopped, or one that asked for a small buffer itself. The finding "
			  "names the UDP socket that lost most, where sock_diag tells.",
		.symptom = "A program misses datagrams", ENOUGH },
	  .reasons = { "SOCKET_RCVBUFF" }, .counters = { "UdpRcvbufErrors", "Udp6RcvbufErrors" },
	  .what = "found the receive buffer of their socket full",
	  .fix = "sysctl -w net.core.rmem_max={4*net.core.rmem_max} "
		 "net.core.rmem_default={4*net.core.rmem_default}",
	  .changes = "four times the room for sockets opened from now on",
	  .advice = "which program: ss -uamp; it reads too slowly, or needs a larger SO_RCVBUF",
	  .of_sockets = true, .only_bursts = true },
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
		.id = "syn-queue-full", .severity = SEVERITY_CRITICAL, .harm = HARM_LOSS,
		.title = "The queue of half-open connections is full",
		.means = "The first packet of a connection (SYN) waits there until the client has "
			 "answered. More came than it holds, most of them perhaps from clients "
			 "that never answer (a SYN flood), and without SYN cookies further ones "
			 "are dropped.",
		.when = "{1} were dropped by a listener though its queue to accept had room "
			"(TcpExtListenDrops less TcpExtListenOverflows, of the namespace)",
		.remedy = "SYN cookies: net.ipv4.tcp_syncookies=1; or a longer queue: "
			  "net.ipv4.tcp_max_syn_backlog, and the backlog of listen.",
		.symptom = "Connections take a second or more to open", .limits = { &few } },
	  .counters = { "TcpExtListenDrops", "-TcpExtListenOverflows" },
	  .what = "to open connections found the queue of half-open ones full",
	  .fix = "sysctl -w net.ipv4.tcp_syncookies=1",
	  .changes = "what finds the queue full is answered with a cookie",
	  .advice = "who sends them: ss -nt state syn-recv" },
	{ .kind = {
		.id = "tcp-port-closed", .severity = SEVERITY_WARNING, .harm = HARM_LOSS,
		.title = "Connections are opened to a TCP port at which nothing listens",
		.means = "Somebody connects to this host, and no program has that port open. Each "
			 "attempt is answered with a reset: connection refused.",
		.when = "{1} and {2} were SYNs that found no socket (port-closed)",
		.silent = "Scans of a few ports.",
		.remedy = "Start the program, or tell the sender.",
		.symptom = "Connection refused", .limits = { &many, &opened } },
	  .reasons = { "NO_SOCKET" }, .meant = for_port,
	  .what = "opened a connection to a TCP port at which nothing listens",
	  .advice = "what listens: ss -lnt; who connects: tcpdump -nni {if} -c 100 "
		    "'tcp[13] & 18 == 2'" },
	{ .kind = {
		.id = "udp-port-closed", .severity = SEVERITY_WARNING, .harm = HARM_LOSS,
		.title = "Datagrams are for a port at which nothing listens",
		.means = "Somebody sends UDP to this host, and no program has that port open. Each "
			 "is answered with an ICMP error and dropped.",
		.when = WHEN("NO_SOCKET in UDP; UdpNoPorts"),
		.silent = "Answers to pings and segments of connections that have just closed, "
			  "which the kernel frees with the same reason; a traceroute, a scan, and "
			  "answers (DNS) that come after the program gave up.",
		.remedy = "Start the program, or tell the sender.",
		.symptom = "A service gets nothing though its packets arrive",
		.limits = { &many, &thirtieth } },
	  .reasons = { "NO_SOCKET" }, .counters = { "UdpNoPorts", "Udp6NoPorts" },
	  .what = "were for a UDP port at which nothing listens",
	  .advice = "what listens: ss -lnu; who sends: tcpdump -nni {if} -c 100 udp",
	  .meant = in_udp },
	{}
};
