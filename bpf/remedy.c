/* SPDX-License-Identifier: GPL-2.0 */
/* What can be done about packets that are dropped, by why they were. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/iface.h"
#include "../lib/log.h"
#include "remedy.h"

#define FEW	10	/* packets: below it no finding is worth its line */

const struct remedy remedies[] = {
	{ "SOCKET_RCVBUFF", FEW, "found the receive buffer of their socket full",
	  "ss -uamp names the socket: let it read faster, or give it room: "
	  "sysctl -w net.core.rmem_max={2*net.core.rmem_max}, and SO_RCVBUF or "
	  "net.core.rmem_default" },
	{ "SOCKET_BACKLOG", FEW, "came while their TCP socket was busy and its backlog was full",
	  "ss -tamp names the socket: let it read faster, or: "
	  "sysctl -w net.core.rmem_max={2*net.core.rmem_max}" },
	{ "PROTO_MEM", 1, "found the memory for all sockets of their protocol used up",
	  "compare /proc/net/sockstat with sysctl net.ipv4.udp_mem net.ipv4.tcp_mem, and raise "
	  "these" },
	{ "NO_SOCKET", FEW, "were for a port at which nothing listens",
	  "what listens: ss -lntu; who sends: tcpdump -nni {if} -c 100" },
	{ "TCP_LISTEN_OVERFLOW", 1, "found the queue of connections to accept full",
	  "ss -lnt names the socket: accept faster, or a larger listen() backlog and "
	  "sysctl -w net.core.somaxconn={2*net.core.somaxconn}" },
	{ "IP_RPFILTER", FEW, "came from an address that is reached another way (rp_filter)",
	  "if that is right: sysctl -w net/ipv4/conf/{if}/rp_filter=2; else see ip route get "
	  "ADDRESS" },
	{ "NETFILTER_DROP", FEW, "were dropped by a firewall rule, or as conntrack was full",
	  "nft list ruleset; iptables -nvL; sysctl net.netfilter.nf_conntrack_count "
	  "net.netfilter.nf_conntrack_max" },
	{ "CPU_BACKLOG", 1, "found the backlog of their CPU full",
	  "sysctl -w net.core.netdev_max_backlog={2*net.core.netdev_max_backlog}; and spread them: "
	  "/sys/class/net/{if}/queues/rx-N/rps_cpus" },
	{ "QDISC_*", FEW, "did not fit in the queueing discipline",
	  "tc -s qdisc show dev {if}; a longer queue: tc qdisc change … limit N, or "
	  "ip link set {if} txqueuelen {2*txqueuelen}; a shaper may be meant to drop" },
	{ "FQ_*", FEW, "did not fit in the queueing discipline fq",
	  "tc -s qdisc show dev {if}; tc qdisc change dev {if} root fq limit N flow_limit N" },
	{ "CAKE_*", FEW, "were dropped by the queueing discipline cake as a flood",
	  "tc -s qdisc show dev {if}" },
	{ "FULL_RING", FEW, "found the ring of the device full",
	  "its other end reads too slowly; a longer ring: ip link set {if} txqueuelen "
	  "{2*txqueuelen}, or for a card ethtool -G {if} tx N" },
	{ "TC_INGRESS", FEW, "were dropped by tc ingress", "tc -s filter show dev {if} ingress" },
	{ "TC_EGRESS", FEW, "were dropped by tc egress", "tc -s filter show dev {if} egress" },
	{ "XDP", FEW, "were dropped by an XDP program", "bpftool net show dev {if}" },
	{ "BPF_CGROUP_EGRESS", FEW, "were dropped by a BPF program of a cgroup",
	  "bpftool cgroup tree" },
	{ "XFRM_POLICY", FEW, "were refused by an IPsec policy",
	  "ip xfrm policy; nstat -az 'Xfrm*'" },
	{ "IP_CSUM", FEW, "arrived with a bad IP checksum",
	  "a cable, a switch or a card: ethtool -S {if}; its offload? ethtool -K {if} rx off" },
	{ "TCP_CSUM", FEW, "arrived with a bad TCP checksum",
	  "a cable, a switch or a card: ethtool -S {if}; its offload? ethtool -K {if} rx off" },
	{ "UDP_CSUM", FEW, "arrived with a bad UDP checksum",
	  "a cable, a switch or a card: ethtool -S {if}; its offload? ethtool -K {if} rx off" },
	{ "SKB_CSUM", FEW, "could not be given a checksum", "ethtool -k {if}" },
	{ "IP_INHDR", FEW, "had a bad IP header, or no hops left",
	  "a routing loop? tcpdump -nvi {if} 'ip[8] <= 1'; traceroute" },
	{ "IP_INNOROUTES", FEW, "were to be forwarded, and there is no route",
	  "ip route get DESTINATION iif {if}; who sends them: tcpdump -nni {if} -c 100" },
	{ "IP_INADDRERRORS", FEW, "were for another host, and {if} does not forward",
	  "if it shall: sysctl -w net/ipv4/conf/{if}/forwarding=1; else who sends: "
	  "tcpdump -nni {if} -c 100" },
	{ "IP_OUTNOROUTES", FEW, "were sent, and there is no route", "ip route get DESTINATION" },
	{ "NEIGH_FAILED", FEW, "were for a neighbour that does not answer",
	  "ip neigh show dev {if} nud failed" },
	{ "NEIGH_QUEUEFULL", FEW, "waited for a neighbour's address, with too many others",
	  "ip neigh show dev {if} nud incomplete; sysctl -w net/ipv4/neigh/{if}/unres_qlen_bytes="
	  "{2*net/ipv4/neigh/default/unres_qlen_bytes}" },
	{ "NEIGH_CREATEFAIL", 1, "found the table of neighbours full",
	  "sysctl -w net.ipv4.neigh.default.gc_thresh3={2*net/ipv4/neigh/default/gc_thresh3}" },
	{ "PKT_TOO_BIG", FEW, "were larger than the MTU",
	  "compare ip link show {if} with the sender's; tracepath DESTINATION" },
	{ "NOMEM", 1, "found no memory",
	  "sysctl -w vm.min_free_kbytes={2*vm.min_free_kbytes}; free -m" },
	{ "FRAG_REASM_TIMEOUT", FEW, "were fragments of a packet whose rest did not come",
	  "nstat -az 'IpReasm*'; sysctl -w net.ipv4.ipfrag_high_thresh="
	  "{2*net/ipv4/ipfrag_high_thresh}" },
	{ "TCP_OFO_*", FEW, "came out of order and found no room at their TCP socket",
	  "ss -tim; a larger third number in sysctl net.ipv4.tcp_rmem" },
	{ "TCP_ZEROWINDOW", FEW, "found the window of their TCP socket closed",
	  "ss -tamp names the socket: let it read faster" },
	{}
};

bool pattern_fits(const char *pattern, const char *name)
{
	size_t len = strlen(pattern);

	if (len && pattern[len - 1] == '*')
		return !strncmp(pattern, name, len - 1);
	return !strcmp(pattern, name);
}

enum about remedy_about(const struct remedy *r)
{
	static const struct { const char *reason; enum about about; } shared[] = {
		{ "SOCKET_RCVBUFF", ABOUT_READER },
		{ "SOCKET_BACKLOG", ABOUT_READER },
		{ "TCP_ZEROWINDOW", ABOUT_READER },
		{ "QDISC_*", ABOUT_QDISC_DROPS },
		{ "FQ_*", ABOUT_QDISC_DROPS },
		{ "CAKE_*", ABOUT_QDISC_DROPS },
		{ "FULL_RING", ABOUT_TX_FULL },
	};

	for (unsigned i = 0; i < sizeof(shared) / sizeof(*shared); i++)
		if (!strcmp(r->reason, shared[i].reason))
			return shared[i].about;
	return ABOUT_ITSELF;
}

const struct remedy *remedy_of(const char *reason)
{
	for (const struct remedy *r = remedies; r->reason; r++)
		if (pattern_fits(r->reason, reason))
			return r;
	return NULL;
}

/* Of this namespace, or of all; a device's own only if it is here. */
static bool value_read(const char *name, const struct snapshot *s, uint64_t *value)
{
	bool device = !strcmp(name, "txqueuelen"), got = false;
	char path[160];
	FILE *f;

	if (device && s->meta.netns != netns_inode())
		return false;
	snprintf(path, sizeof(path), device ? "/sys/class/net/%s/tx_queue_len" : "/proc/sys/%s",
		 device ? s->meta.iface : name);
	for (char *c = path; !device && *c && !strchr(name, '/'); c++)
		*c = *c == '.' ? '/' : *c;
	f = fopen(path, "re");
	if (f) {
		got = fscanf(f, "%" SCNu64, value) == 1;
		fclose(f);
	}
	return got;
}

/* What stands in braces. */
static const char *word_text(const char *word, const struct snapshot *s)
{
	bool twice = !strncmp(word, "2*", 2);
	uint64_t value;

	if (!strcmp(word, "if"))
		return s->meta.iface;
	if (!value_read(word + 2 * twice, s, &value))
		return "N";
	return text("%" PRIu64, twice ? 2 * value : value);
}

const char *remedy_text(const char *format, const struct snapshot *s)
{
	static char out[400];
	size_t len = 0;

	while (*format && len < sizeof(out) - 1) {
		size_t plain = strcspn(format, "{"), end = strcspn(format, "}");

		len += snprintf(out + len, sizeof(out) - len, "%.*s", (int)plain, format);
		format += plain;
		if (!*format || len >= sizeof(out))
			break;
		end = strcspn(format, "}");
		len += snprintf(out + len, sizeof(out) - len, "%s",
				word_text(text("%.*s", (int)end - 1, format + 1), s));
		format += end + (format[end] == '}');
	}
	return out;
}

const char *remedy_count(uint64_t n, const char *what)
{
	static const char *const list[][2] = {
		{ "packets were ", "packet was" }, { "packets ", "packet" }, { "times ", "time" },
	};

	for (unsigned i = 0; n == 1 && i < sizeof(list) / sizeof(*list); i++)
		if (!strncmp(what, list[i][0], strlen(list[i][0])))
			return text("1 %s %s", list[i][1], what + strlen(list[i][0]));
	return text("%" PRIu64 " %s", n, what);
}
