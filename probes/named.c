/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers that have names: states, protocols, families and so on. */
#include <ctype.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/kernel/reasons.h"
#include "lib/util/list.h"
#include "lib/util/near.h"
#include "probes/named.h"
#include "probes/raw.h"
#include "probes/source.h"
#include "probes/syscalls.h"
#include "probes/told.h"

struct named {
	const char *name;
	__u32 number;
};

/* The first name of a number is the one that is shown. */
static const struct named states[] = {
	{ "established", 1 }, { "syn-sent", 2 }, { "syn-received", 3 }, { "fin-wait-1", 4 },
	{ "fin-wait-2", 5 }, { "time-wait", 6 }, { "closed", 7 }, { "close-wait", 8 },
	{ "last-ack", 9 }, { "listen", 10 }, { "closing", 11 }, { "new-syn-received", 12 },
	{ "syn-recv", 3 }, { "fin-wait1", 4 }, { "fin-wait2", 5 }, { "close", 7 }, {}
};

static const struct named flags[] = {
	{ "FIN", 0x01 }, { "SYN", 0x02 }, { "RST", 0x04 }, { "PSH", 0x08 }, { "ACK", 0x10 },
	{ "URG", 0x20 }, { "ECE", 0x40 }, { "CWR", 0x80 }, { "PUSH", 0x08 }, {}
};

static const struct named protocols[] = {
	{ "tcp", IPPROTO_TCP }, { "udp", IPPROTO_UDP }, { "icmp", IPPROTO_ICMP },
	{ "ipv6-icmp", IPPROTO_ICMPV6 }, { "igmp", IPPROTO_IGMP }, { "ipip", IPPROTO_IPIP },
	{ "ipv6", IPPROTO_IPV6 }, { "gre", IPPROTO_GRE }, { "esp", IPPROTO_ESP },
	{ "ah", IPPROTO_AH }, { "sctp", IPPROTO_SCTP }, { "udplite", IPPROTO_UDPLITE },
	{ "dccp", IPPROTO_DCCP }, { "pim", IPPROTO_PIM }, { "ospf", 89 }, { "vrrp", 112 },
	{ "l2tp", 115 }, { "mptcp", 262 }, { "fragment", IPPROTO_FRAGMENT },
	{ "routing", IPPROTO_ROUTING }, { "dstopts", IPPROTO_DSTOPTS }, { "raw", IPPROTO_RAW },
	{ "icmpv6", IPPROTO_ICMPV6 }, {}
};

static const struct named ethertypes[] = {
	{ "ipv4", ETH_P_IP }, { "ipv6", ETH_P_IPV6 }, { "arp", ETH_P_ARP }, { "rarp", ETH_P_RARP },
	{ "vlan", ETH_P_8021Q }, { "qinq", ETH_P_8021AD }, { "mpls", ETH_P_MPLS_UC },
	{ "pppoe", ETH_P_PPP_SES }, { "lacp", ETH_P_SLOW }, { "lldp", 0x88cc },
	{ "eapol", ETH_P_PAE }, { "ptp", ETH_P_1588 }, { "ip", ETH_P_IP },
	{ "8021q", ETH_P_8021Q }, {}
};

static const struct named families[] = {
	{ "inet", AF_INET }, { "inet6", AF_INET6 }, { "unix", AF_UNIX }, { "netlink", AF_NETLINK },
	{ "packet", AF_PACKET }, { "vsock", AF_VSOCK }, { "xdp", AF_XDP }, { "key", AF_KEY },
	{ "bluetooth", AF_BLUETOOTH }, { "can", AF_CAN }, { "tipc", AF_TIPC }, { "alg", AF_ALG },
	{ "qipcrtr", AF_QIPCRTR }, { "smc", AF_SMC }, { "rds", AF_RDS }, { "local", AF_UNIX }, {}
};

static const struct named types[] = {
	{ "stream", SOCK_STREAM }, { "dgram", SOCK_DGRAM }, { "raw", SOCK_RAW },
	{ "rdm", SOCK_RDM }, { "seqpacket", SOCK_SEQPACKET }, { "dccp", SOCK_DCCP },
	{ "packet", SOCK_PACKET }, {}
};

static const struct named chunks[] = {
	{ "data", 0 }, { "init", 1 }, { "init-ack", 2 }, { "sack", 3 }, { "heartbeat", 4 },
	{ "heartbeat-ack", 5 }, { "abort", 6 }, { "shutdown", 7 }, { "shutdown-ack", 8 },
	{ "error", 9 }, { "cookie-echo", 10 }, { "cookie-ack", 11 }, { "ecne", 12 }, { "cwr", 13 },
	{ "shutdown-complete", 14 }, { "auth", 15 }, { "i-data", 64 }, { "asconf-ack", 128 },
	{ "re-config", 130 }, { "pad", 132 }, { "forward-tsn", 192 }, { "asconf", 193 }, {}
};

static const struct named stoppers[] = {
	{ "driver", STOPPER_DRIVER }, { "bql", STOPPER_BQL }, {}
};

#define PREFIXES	3
static const struct {
	const struct named *list;
	const char *prefix[PREFIXES];	/* of the same name in C or D; the longest first */
} formats[NR_FORMATS] = {
	[FORMAT_STATE] = { states, { "tcp-state-", "state-", "tcp-" } },
	[FORMAT_TCP_FLAGS] = { flags, { "th-" } },
	[FORMAT_PROTOCOL] = { protocols, { "ipproto-" } },
	[FORMAT_ETHERTYPE] = { ethertypes, { "eth-p-", "ethertype-" } },
	[FORMAT_FAMILY] = { families, { "af-", "pf-" } },
	[FORMAT_SOCKET_TYPE] = { types, { "sock-" } },
	[FORMAT_CHUNK] = { chunks, { } },
	[FORMAT_STOPPER] = { stoppers, { } },
};

const char *named_text(enum field_format format, __u32 number)
{
	const struct named *n = formats[format].list;

	if (format == FORMAT_ERRNO)
		return strerrorname_np(number);
	if (format == FORMAT_REASON)
		return drop_reason_name(number);
	if (format == FORMAT_MODULE || (format == FORMAT_PROBE && RAW_IS(number)) ||
	    (format == FORMAT_SYSCALL && number & RAW_FUNCTION))
		return raw_text(format, number);
	if (format == FORMAT_SYSCALL)
		return syscall_name(number);
	if (format == FORMAT_PROBE)
		return number < NR_STABLE_PROBES ? probe_name(number) : NULL;
	if (format == FORMAT_SOURCE)
		return number < NR_SOURCES ? source_name(number) : NULL;
	for (; n && n->name; n++)
		if (n->number == number)
			return n->name;
	return NULL;
}

/* One after the other, from 0; NULL: that was the last. For formats without a list. */
static const char *numbered(enum field_format format, __u32 number)
{
	switch (format) {
	case FORMAT_ERRNO:
		return number < 256 ? strerrorname_np(number) ?: "" : NULL;
	case FORMAT_REASON:
		return drop_reason_core(number);
	case FORMAT_PROBE:
	case FORMAT_SOURCE:
		return named_text(format, number);
	default:
		return NULL;
	}
}

/* Lower case, "-" for "_", and without what C or D puts before it. */
static void plain(enum field_format format, const char *name, char *to, size_t size)
{
	size_t n = 0;

	for (; n < size - 1 && name[n]; n++)
		to[n] = name[n] == '_' ? '-' : tolower((unsigned char)name[n]);
	to[n] = 0;
	for (unsigned i = 0; i < PREFIXES && formats[format].prefix[i]; i++) {
		size_t len = strlen(formats[format].prefix[i]);

		if (!strncmp(to, formats[format].prefix[i], len) && to[len]) {
			memmove(to, to + len, n - len + 1);
			break;
		}
	}
}

static bool reason_number(const char *name, __u32 *number)
{
	static const char prefix[] = "SKB_DROP_REASON_";
	const char *known;

	if (!strncasecmp(name, prefix, sizeof(prefix) - 1))
		name += sizeof(prefix) - 1;
	for (__u32 i = 0; (known = drop_reason_core(i)); i++)
		if (!strcasecmp(known, name)) {
			*number = i;
			return true;
		}
	return false;
}

bool named_number(enum field_format format, const char *name, __u32 *number)
{
	char want[64], is[64];
	const char *known;

	if (format == FORMAT_REASON)
		return reason_number(name, number);
	if ((format == FORMAT_SYSCALL || format == FORMAT_MODULE || format == FORMAT_PROBE) &&
	    raw_number(format, name, number))
		return true;
	if (format == FORMAT_SYSCALL) {
		*number = syscall_number(name);
		return (int)*number >= 0;
	}
	plain(format, name, want, sizeof(want));
	for (const struct named *n = formats[format].list; n && n->name; n++) {
		plain(format, n->name, is, sizeof(is));
		if (!strcmp(is, want)) {
			*number = n->number;
			return true;
		}
	}
	for (__u32 i = 0; (known = numbered(format, i)); i++)
		if (*known && !strcasecmp(known, name)) {
			*number = i;
			return true;
		}
	return false;
}

void named_near(enum field_format format, struct near *near)
{
	const char *known;

	for (const struct named *n = formats[format].list; n && n->name; n++)
		near_try(near, n->name);
	for (__u32 i = 0; (known = numbered(format, i)); i++)
		near_try(near, known);
	if (format == FORMAT_SYSCALL)
		syscalls_near(near);
	if (format == FORMAT_SYSCALL || format == FORMAT_MODULE || format == FORMAT_PROBE)
		raw_near(format, near);
}
