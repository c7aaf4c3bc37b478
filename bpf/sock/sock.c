/* SPDX-License-Identifier: GPL-2.0 */
/* The meter sock: system calls to sockets. */
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#include "bpf/host/calls.h"
#include "bpf/sock/sock.h"
#include "lib/core/hook.h"
#include "lib/core/meter.h"
#include "lib/util/list.h"

static const char *const calls[NR_SOCK_CALLS] = {
#define C(name) [SOCK_CALL_##name] = #name,
	SOCK_CALLS(C)
#undef C
};

static const char *const errors[NR_SOCK_ERRORS] = {
#define E(name) [SOCK_##name] = #name,
	SOCK_ERRORS(E)
#undef E
	[SOCK_EOTHER] = "other",
};

static const uint64_t sizes[] = { COUNTS_BOUNDS };

static const struct metric metrics[] = {
	COUNTER(struct sock_row, calls, .name = "calls", .unit = "calls",
		.help = "System calls to sockets that returned."),
	COUNTER(struct sock_row, failed, .name = "failed", .unit = "calls", .rare = true,
		.help = "Calls that failed, without EAGAIN, EINPROGRESS, EALREADY and EINTR."),
	COUNTER(struct sock_row, errors, .name = "errors", .unit = "calls", .group = "errors",
		.help = "Calls that returned an error, by which.", .label = "errno",
		.labels = LABELS(struct sock_row, errors, errors), .rare = true),
	COUNTER(struct sock_row, bytes, .name = "bytes", .unit = "bytes",
		.help = "Bytes that calls sent or received."),
	COUNTER(struct sock_row, unread, .name = "unread", .unit = "calls", .rare = true,
		.help = "Calls of several messages, of which not all sizes could be read."),
	HISTOGRAM(struct sock_row, size, .name = "size", .unit = "bytes", .scale = 1,
		  .bounds = BOUNDS(struct sock_row, size, sizes), .steps = COUNTS_STEPS,
		  .help = "Bytes of each message that was sent or received."),
	{}
};

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

static void protocol_text(const struct sock_key *key, char *out, size_t size)
{
	char type[16];

	if (key->family == AF_NETLINK) {
		word(netlinks, NR_OF(netlinks), key->protocol, out, size);
		return;
	}
	word(types, NR_OF(types), key->type, type, sizeof(type));
	if (key->family != AF_INET && key->family != AF_INET6) {
		snprintf(out, size, "%s", type);
		return;
	}
	for (unsigned i = 0; i < NR_OF(internet); i++)
		if (internet[i].type == key->type && internet[i].protocol == key->protocol) {
			snprintf(out, size, "%s", internet[i].name);
			return;
		}
	snprintf(out, size, "%s-%u", type, key->protocol);
}

enum label { CALL, FAMILY, PROTOCOL, PROCESS };
static const char *const labels[] = { "call", "family", "protocol", "process", NULL };

static void key_words(const void *of, unsigned nr, char *out, size_t size)
{
	const struct sock_key *key = of;

	if (!key->call) {
		snprintf(out, size, nr == CALL ? REMOTE_OTHERS : "-");
		return;
	}
	switch ((enum label)nr) {
	case CALL:
		word(calls, NR_OF(calls), key->call, out, size);
		break;
	case FAMILY:
		word(families, NR_OF(families), key->family, out, size);
		break;
	case PROTOCOL:
		protocol_text(key, out, size);
		break;
	case PROCESS:
		comm_text(key->comm, out, size);
	}
}

static int fill(const struct site *site, struct bpf_object *obj)
{
	(void)site;
	return remotes_reserve(obj, "sock", &(struct sock_key){}, 1);
}

const struct meter meter_sock = {
	.name = "sock",
	.help = "system calls to sockets: how many, sizes, errors, by process",
	.type = EVENT_METER,
	.host = true,
	.by = BY_KEY,
	.row_size = sizeof(struct sock_row),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct sock_key),
		.labels = labels,
		.text = key_words,
	},
	.events = { .fill = fill },
	.cannot = calls_cannot,
	.on_request = "it runs at the end of each system call of the machine: 0.1 us for each, and "
		      "0.4 us for one to a socket",
};
