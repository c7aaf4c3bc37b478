/* SPDX-License-Identifier: GPL-2.0 */
/* The kinds of sockets, in words: families and protocols. */
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#include "bpf/host/kinds.h"
#include "lib/util/list.h"

static const char *const families[] = {
	[AF_UNIX] = "unix", [AF_INET] = "inet", [AF_INET6] = "inet6", [AF_NETLINK] = "netlink",
	[AF_PACKET] = "packet", [AF_RDS] = "rds", [AF_CAN] = "can", [AF_TIPC] = "tipc",
	[AF_BLUETOOTH] = "bluetooth", [AF_ALG] = "alg", [AF_VSOCK] = "vsock", [AF_KCM] = "kcm",
	[AF_QIPCRTR] = "qipcrtr", [AF_SMC] = "smc", [AF_XDP] = "xdp",
};

static const char *const types[] = {
	[SOCK_STREAM] = "stream", [SOCK_DGRAM] = "dgram", [SOCK_RAW] = "raw",
	[SOCK_RDM] = "rdm", [SOCK_SEQPACKET] = "seqpacket", [SOCK_DCCP] = "dccp",
	[SOCK_PACKET] = "packet",
};

static const char *const netlinks[] = {
	[NETLINK_ROUTE] = "route", [NETLINK_USERSOCK] = "usersock",
	[NETLINK_SOCK_DIAG] = "sock-diag", [NETLINK_XFRM] = "xfrm",
	[NETLINK_SELINUX] = "selinux", [NETLINK_AUDIT] = "audit",
	[NETLINK_CONNECTOR] = "connector", [NETLINK_NETFILTER] = "netfilter",
	[NETLINK_KOBJECT_UEVENT] = "uevent", [NETLINK_GENERIC] = "generic",
	[NETLINK_CRYPTO] = "crypto",
};

static const struct {
	unsigned type, protocol;
	const char *name;
} internet[] = {
	{ SOCK_STREAM, IPPROTO_TCP, "tcp" }, { SOCK_STREAM, 262 /* IPPROTO_MPTCP */, "mptcp" },
	{ SOCK_DGRAM, IPPROTO_UDP, "udp" }, { SOCK_DGRAM, IPPROTO_UDPLITE, "udplite" },
	{ SOCK_DGRAM, IPPROTO_ICMP, "ping" }, { SOCK_DGRAM, IPPROTO_ICMPV6, "ping6" },
};

static void word(const char *const *list, unsigned nr, unsigned n, char *out, size_t size)
{
	if (n < nr && list[n])
		snprintf(out, size, "%s", list[n]);
	else
		snprintf(out, size, "%u", n);
}

void family_text(unsigned family, char *out, size_t size)
{
	word(families, NR_OF(families), family, out, size);
}

void protocol_text(unsigned family, unsigned type, unsigned protocol, char *out, size_t size)
{
	char name[16];

	if (family == AF_NETLINK) {
		word(netlinks, NR_OF(netlinks), protocol, out, size);
		return;
	}
	word(types, NR_OF(types), type, name, sizeof(name));
	if (family != AF_INET && family != AF_INET6) {
		snprintf(out, size, "%s", name);
		return;
	}
	for (unsigned i = 0; i < NR_OF(internet); i++)
		if (internet[i].type == type && internet[i].protocol == protocol) {
			snprintf(out, size, "%s", internet[i].name);
			return;
		}
	snprintf(out, size, "%s-%u", name, protocol);
}
