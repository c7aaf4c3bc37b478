/* SPDX-License-Identifier: GPL-2.0 */
/* Classifies a drop by reason and location: by whom, and is it harmless or no drop at all? */
#include <string.h>

#include "bpf/drop/classify.h"
#include "lib/kernel/reasons.h"
#include "lib/core/nic_driver.h"
#include "lib/kernel/symbol.h"

/* Packets for other hosts (flooding, promiscuous mode), for nobody, or received twice. */
static const char *const benign[] = {
	"OTHERHOST", "UNHANDLED_PROTO", "UNICAST_IN_L2_MULTICAST", "IPV6DISABLED",
	"IPV6_NDISC_NS_OTHERHOST", "MAC_IEEE_MAC_CONTROL", "BRIDGE_INGRESS_STP_STATE", "DUP_FRAG",
	"TCP_OLD_DATA", "TCP_OLD_ACK", "TCP_OLD_SEQUENCE", "TCP_OFOMERGE", NULL
};

/* Functions in which a closing socket frees unread packets; for TCP sk_stream_kill_queues(). */
static const char *const closed[] = {
	"sk_stream_kill_queues", "udp_destruct_common", "udp_destruct_sock",
	"skb_queue_purge_reason", "skb_queue_purge", NULL
};

static const struct { const char *pattern, *who; } by_reason[] = {
	{ "QDISC_*", "qdisc" }, { "FQ_*", "qdisc" }, { "CAKE_*", "qdisc" },
	{ "DUALPI2_*", "qdisc" }, { "XDP", "xdp" }, { "TC_*", "tc" },
	{ "NETFILTER_*", "netfilter" }, { "SOCKET_*", "socket" }, { "TAP_*", "driver" },
	{ "FULL_RING", "driver" }, {}
}, by_place[] = {	/* if the reason does not tell */
	{ "netif_receive_generic_xdp*", "xdp" }, { "do_xdp_generic*", "xdp" },
	{ "generic_xdp_tx*", "xdp" }, { "veth_xdp_rcv*", "xdp" }, { "veth_poll*", "xdp" },
	/* AQM drops at dequeue; up to 6.12 without a reason */
	{ "cake_*", "qdisc" }, { "codel_*", "qdisc" }, { "__codel_*", "qdisc" },
	{ "fq_codel_*", "qdisc" }, { "etf_*", "qdisc" }, { "sfq_*", "qdisc" }, { "sfb_*", "qdisc" },
	{ "drop_func*", "qdisc" }, { "pie_*", "qdisc" }, { "fq_pie_*", "qdisc" }, {}
};

/* A trailing '*' matches any suffix. */
static bool pattern_fits(const char *pattern, const char *name)
{
	size_t len = strlen(pattern);

	if (len && pattern[len - 1] == '*')
		return !strncmp(pattern, name, len - 1);
	return !strcmp(pattern, name);
}

static bool is_one_of(const char *name, const char *const *list)
{
	while (*list && strcmp(name, *list))
		list++;
	return *list;
}

/* Was it delivered to a socket and never read? */
static bool unread(const struct drop_key *key)
{
	static const char *const reasons[] = { "QUEUE_PURGE", "NOT_SPECIFIED", NULL };
	const char *symbol = symbol_at(key->location);

	return key->direction != DROP_TX && symbol && is_one_of(symbol, closed) &&
	       is_one_of(drop_reason_name(key->reason), reasons);
}

/* "veth_xmit [veth]"; for a built-in driver, by the prefix of its functions. */
static bool in_driver(const char *symbol)
{
	const char *module = strchr(symbol, '[');

	for (const struct driver *const *d = drivers; *d; d++) {
		const char *at = module ? module + 1 : symbol;
		size_t len = strlen((*d)->name);

		if (!strncmp(at, (*d)->name, len) && at[len] == (module ? ']' : '_'))
			return true;
	}
	return false;
}

/* NULL: the location does not tell. */
static const char *who_by_place(const char *symbol)
{
	for (int i = 0; symbol && by_place[i].pattern; i++)
		if (pattern_fits(by_place[i].pattern, symbol))
			return by_place[i].who;
	return NULL;
}

bool drop_at_qdisc(__u64 location)
{
	const char *symbol = symbol_at(location), *who = who_by_place(symbol);

	return who && !strcmp(who, "qdisc") && !strstr(symbol, "_reset");
}

const char *drop_who(const struct drop_key *key)
{
	const char *reason = drop_reason_name(key->reason), *symbol = symbol_at(key->location);

	if (unread(key))
		return "socket";
	for (int i = 0; by_reason[i].pattern; i++)
		if (pattern_fits(by_reason[i].pattern, reason))
			return by_reason[i].who;
	if (who_by_place(symbol))
		return who_by_place(symbol);
	return symbol && in_driver(symbol) ? "driver" : "kernel";
}

const char *drop_why(const struct drop_key *key)
{
	static const char *const unasked[] = {
		[DROP_FOR_GROUP] = "multicast-unjoined", [DROP_FOR_ALL] = "broadcast-unheard",
		[DROP_FOR_VLAN] = "vlan-unknown", [DROP_FOR_PORT] = "port-closed",
	};

	return key->whom <= DROP_FOR_PORT && unasked[key->whom] ? unasked[key->whom] :
								  drop_reason_name(key->reason);
}

bool drop_is_benign(const struct drop_key *key)
{
	if (key->whom)
		return key->whom != DROP_FOR_VLAN && key->whom != DROP_FOR_PORT;
	return is_one_of(drop_reason_name(key->reason), benign) || unread(key);
}

bool drop_of_cut(__u64 location)
{
	const char *symbol = symbol_at(location);

	return symbol && (!strncmp(symbol, "tbf_segment", 11) ||
			  !strncmp(symbol, "tbf_enqueue", 11));
}

bool drop_is_false(const struct drop_key *key)
{
	const char *symbol = symbol_at(key->location);

	return symbol && !strcmp(drop_reason_name(key->reason), "NOT_SPECIFIED") &&
	       (!strncmp(symbol, "skb_release_data", 16) || drop_of_cut(key->location));
}

bool drop_is_received(const struct drop_key *key)
{
	const char *symbol = symbol_at(key->location);

	return symbol && (!strncmp(symbol, "veth_xdp_rcv", 12) || !strncmp(symbol, "veth_poll", 9));
}

/* Functions in which the kernel looks for receivers of a multicast or broadcast. */
static const char *const seekers[] = {
	"ip_rcv_finish*", "ip_route_input*", "ip6_mc_input*", "ip6_input*", "__udp4_lib_rcv*",
	"__udp4_lib_mcast*", "__udp6_lib_rcv*", "__udp6_lib_mcast*", "udp_rcv*", "udpv6_rcv*", NULL
};

bool drop_is_for_nobody(const struct drop_key *key)
{
	const char *symbol = symbol_at(key->location);

	for (int i = 0; symbol && seekers[i]; i++)
		if (pattern_fits(seekers[i], symbol))
			return true;
	return key->whom == DROP_FOR_VLAN || key->whom == DROP_FOR_PORT;
}
