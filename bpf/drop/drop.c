/* SPDX-License-Identifier: GPL-2.0 */
/* How a drop reads: why, where, who did it; which drops are none; and what to do about them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "bpf/drop/drop.h"
#include "lib/attach/pins.h"
#include "lib/core/hook.h"
#include "lib/core/nic_driver.h"
#include "lib/kernel/names.h"
#include "lib/kernel/symbol.h"
#include "lib/read/snapshot.h"
#include "lib/util/log.h"
#include "drop.skel.h"

static const struct metric metrics[] = {
	COUNTER(struct drop, packets, .name = "packets", .unit = "packets",
		.help = "Packets that were thrown away; of a buffer, all that it holds."),
	COUNTER(struct drop, buffers, .name = "buffers", .unit = "buffers", .rare = true,
		.like_first = true,
		.help = "Buffers in which they were: what tc and the kernel's counters count."),
	COUNTER(struct drop, bytes, .name = "bytes", .unit = "bytes",
		.help = "Their bytes, as they lay in the buffer."),
	{}
};

enum label { REASON, LOCATION, WHO, DIRECTION, QUEUE };
static const char *const labels[] = { "reason", "location", "who", "direction", "queue", NULL };

/*
 * No harm in them: what was for another host (a switch floods it, or the card
 * is promiscuous), for nobody, or came twice. And what nobody had read when its
 * socket was closed: for TCP, the end of the stream (sk_stream_kill_queues()).
 */
static const char *const benign[] = {
	"OTHERHOST", "UNHANDLED_PROTO", "UNICAST_IN_L2_MULTICAST", "IPV6DISABLED",
	"IPV6_NDISC_NS_OTHERHOST", "MAC_IEEE_MAC_CONTROL", "BRIDGE_INGRESS_STP_STATE", "DUP_FRAG",
	"TCP_OLD_DATA", "TCP_OLD_ACK", "TCP_OLD_SEQUENCE", "TCP_OFOMERGE", NULL
};

static const char *const closed[] = {
	"sk_stream_kill_queues", "udp_destruct_common", "udp_destruct_sock",
	"skb_queue_purge_reason", "skb_queue_purge", NULL
};

static const struct { const char *pattern, *who; } by_reason[] = {
	{ "QDISC_*", "qdisc" }, { "FQ_*", "qdisc" }, { "CAKE_*", "qdisc" },
	{ "DUALPI2_*", "qdisc" }, { "XDP", "xdp" }, { "TC_*", "tc" },
	{ "NETFILTER_*", "netfilter" }, { "SOCKET_*", "socket" }, { "TAP_*", "driver" },
	{ "FULL_RING", "driver" }, {}
}, by_place[] = {	/* where the reason does not say */
	{ "netif_receive_generic_xdp*", "xdp" }, { "do_xdp_generic*", "xdp" },
	{ "generic_xdp_tx*", "xdp" }, { "veth_xdp_rcv*", "xdp" }, { "veth_poll*", "xdp" },
	/* what their queue management drops as it gives out packets; up to 6.12 without a reason */
	{ "cake_*", "qdisc" }, { "codel_*", "qdisc" }, { "__codel_*", "qdisc" },
	{ "fq_codel_*", "qdisc" }, { "etf_*", "qdisc" }, { "sfq_*", "qdisc" }, { "sfb_*", "qdisc" },
	{ "drop_func*", "qdisc" }, { "pie_*", "qdisc" }, { "fq_pie_*", "qdisc" }, {}
};

/* A pattern that ends with '*' fits all that begin so. */
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

/* Received, delivered to a socket, and never read. */
static bool unread(const struct drop_key *key)
{
	static const char *const reasons[] = { "QUEUE_PURGE", "NOT_SPECIFIED", NULL };
	const char *symbol = symbol_at(key->location);

	return key->direction != DROP_TX && symbol && is_one_of(symbol, closed) &&
	       is_one_of(drop_reason_name(key->reason), reasons);
}

/* "veth_xmit [veth]"; built in, by how its functions begin. */
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

/* NULL: the place does not say. */
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

static void key_text(const void *of, unsigned nr, char *out, size_t size)
{
	static const char *const directions[] = {
		[DROP_RX] = "rx", [DROP_TX] = "tx", [DROP_UNSURE] = "unsure",
	};
	const struct drop_key *key = of;

	switch (nr) {
	case REASON:
		snprintf(out, size, "%s", drop_why(key));
		break;
	case LOCATION:
		symbol_text(key->location, out, size);
		break;
	case WHO:
		snprintf(out, size, "%s", drop_who(key));
		break;
	case DIRECTION:
		snprintf(out, size, "%s", directions[key->direction % 3]);
		break;
	default:
		snprintf(out, size, key->queue == DROP_QUEUE_UNKNOWN ? "unknown" : "%u",
			 key->queue);
	}
}

static bool is_benign(const void *of)
{
	const struct drop_key *key = of;

	if (key->whom)
		return key->whom != DROP_FOR_VLAN && key->whom != DROP_FOR_PORT;
	return is_one_of(drop_reason_name(key->reason), benign) || unread(key);
}

/* Stacks that keys of this process name by their place here: the same for all snapshots. */
static struct stacks {
	struct stack { uint64_t ip[DROP_STACK_DEPTH]; } *list;
	int nr;
} stacks;

static int stack_place(const struct stack *stack)
{
	void *list;

	for (int i = 0; i < stacks.nr; i++)
		if (!memcmp(&stacks.list[i], stack, sizeof(*stack)))
			return i;
	list = realloc(stacks.list, (stacks.nr + 1) * sizeof(*stack));
	if (!list)
		return DROP_NO_STACK;
	stacks.list = list;
	stacks.list[stacks.nr] = *stack;
	return stacks.nr++;
}

/* The programs that tell of the drop are no part of it. */
static bool is_ours(uint64_t ip)
{
	const char *symbol = symbol_at(ip);

	return symbol && (!strncmp(symbol, "bpf_", 4) || !strncmp(symbol, "__bpf_", 6) ||
			  !strncmp(symbol, "__traceiter_", 12));
}

static bool stack_line(const void *of, unsigned nr, char *out, size_t size)
{
	const struct drop_key *key = of;
	unsigned from = 0;

	if (key->stack < 0 || key->stack >= stacks.nr)
		return false;
	while (from < DROP_STACK_DEPTH && is_ours(stacks.list[key->stack].ip[from]))
		from++;
	nr += from;
	if (nr >= DROP_STACK_DEPTH || !stacks.list[key->stack].ip[nr])
		return false;
	symbol_text(stacks.list[key->stack].ip[nr], out, size);
	return true;
}

bool drop_of_cut(__u64 location)
{
	const char *symbol = symbol_at(location);

	return symbol && (!strncmp(symbol, "tbf_segment", 11) ||
			  !strncmp(symbol, "tbf_enqueue", 11));
}

/*
 * 6.1 frees the parts of a buffer that GRO made as if they were dropped
 * (skb_release_data() calls kfree_skb_list()); from 6.3 on it says SKB_CONSUMED.
 * tbf frees what it has cut as if it were dropped, where all its parts were (6.18; Debian's 6.1
 * and 6.12, too).
 */
static bool is_false(const struct drop_key *key)
{
	const char *symbol = symbol_at(key->location);

	return symbol && !strcmp(drop_reason_name(key->reason), "NOT_SPECIFIED") &&
	       (!strncmp(symbol, "skb_release_data", 16) || drop_of_cut(key->location));
}

/*
 * A veth runs XDP on what its peer sent, in frames that look as if they were being sent: what is
 * freed there was received.
 */
static bool is_received(const struct drop_key *key)
{
	const char *symbol = symbol_at(key->location);

	return symbol && (!strncmp(symbol, "veth_xdp_rcv", 12) || !strncmp(symbol, "veth_poll", 9));
}

/* Where the kernel looks for somebody who wants a multicast or broadcast, and there is nobody. */
static const char *const seekers[] = {
	"ip_rcv_finish*", "ip_route_input*", "ip6_mc_input*", "ip6_input*", "__udp4_lib_rcv*",
	"__udp4_lib_mcast*", "__udp6_lib_rcv*", "__udp6_lib_mcast*", "udp_rcv*", "udpv6_rcv*", NULL
};

/* Elsewhere it is dropped for a reason that the kernel does not name, whomever it was for. */
static bool is_for_nobody(const struct drop_key *key)
{
	const char *symbol = symbol_at(key->location);

	for (int i = 0; symbol && seekers[i]; i++)
		if (pattern_fits(seekers[i], symbol))
			return true;
	return key->whom == DROP_FOR_VLAN || key->whom == DROP_FOR_PORT;
}

/* The row of this key among the first `nr`; `nr`: none. */
static unsigned row_of(const struct drop_key *keys, unsigned nr, const struct drop_key *key)
{
	unsigned row = 0;

	while (row < nr && memcmp(&keys[row], key, sizeof(*key)))
		row++;
	return row;
}

/* What no kernel has a name for stays empty. */
static int reasons_tell(struct bpf_object *obj)
{
	int fd = bpf_object__find_map_fd_by_name(obj, "drop_reasons"), err = 0;

	for (__u32 reason = 0; !err && reason < DROP_REASONS; reason++) {
		const char *name = drop_reason_core(reason);
		struct drop_reason told = {};

		if (!name)
			continue;
		snprintf(told.name, sizeof(told.name), "%s", name);
		err = bpf_map_update_elem(fd, &reason, &told, BPF_ANY);
	}
	return err;
}

static int attach(const struct site *site, struct bpf_object *obj)
{
	return object_load(site, obj) ?: reasons_tell(obj) ?: object_attach(site, obj);
}

/* Once is enough: a kernel does not call them otherwise while it runs. */
static void reasons_learn(const char *pins)
{
	struct drop_reason told[DROP_REASONS];
	__u32 keys[DROP_REASONS], n = DROP_REASONS, next;
	static bool learned;
	int fd = learned ? -1 : pin_read(text("%s/drop_reasons", pins));

	learned = true;
	if (fd < 0)
		return;
	if (bpf_map_lookup_batch(fd, NULL, &next, keys, told, &n, NULL) && errno != ENOENT)
		n = 0;
	for (__u32 i = 0; i < n; i++)
		if (*told[i].name)
			drop_reason_know(keys[i], told[i].name);
	close(fd);
}

/* What one row counted goes to another: to a new one, or is added to what is there. */
static void row_join(struct table *t, unsigned to, unsigned from, bool new)
{
	uint64_t *sum = t->cells + (size_t)to * t->words;
	const uint64_t *more = t->cells + (size_t)from * t->words;

	for (unsigned i = 0; i < t->words; i++)
		sum[i] = new ? more[i] : i < WORD(struct drop, second) ? sum[i] + more[i] :
			 moments_later(sum[i], more[i]);
}

static void buffers_tell(struct table *t, unsigned row)
{
	struct drop *d = (void *)(t->cells + (size_t)row * t->words);

	d->buffers = d->packets - d->more;
}

static int settle(const char *pins, struct table *t)
{
	int fd = pin_read(text("%s/drop_stack", pins));
	struct drop_key *keys = (void *)t->keys;
	unsigned kept = 0;

	reasons_learn(pins);
	for (unsigned row = 0; row < t->rows; row++) {
		struct drop_key key = keys[row];
		__u32 id = key.stack;
		struct stack stack;
		unsigned to = kept;

		if (is_false(&key))
			continue;
		if (key.whom && !is_for_nobody(&key))
			key.whom = DROP_FOR_ANY;
		if (key.direction == DROP_TX && is_received(&key))
			key.direction = DROP_RX;
		if (key.stack >= 0)
			key.stack = fd >= 0 && !bpf_map_lookup_elem(fd, &id, &stack) ?
				    stack_place(&stack) : DROP_NO_STACK;
		if (memcmp(&key, &keys[row], sizeof(key)))	/* it may be another's by now */
			to = row_of(keys, kept, &key);
		keys[to] = key;
		row_join(t, to, row, to == kept);
		buffers_tell(t, to);
		kept += to == kept;
	}
	t->rows = kept;
	if (fd >= 0)
		close(fd);
	return 0;
}

const struct meter meter_drop = {
	.name = "drop",
	.help = "packets that were thrown away: why, where in the kernel, by whom",
	.by = BY_KEY,
	.point = RX_STACK,
	.row_size = sizeof(struct drop),
	.moments = WORD(struct drop, second),
	.metrics = metrics,
	.key_size = sizeof(struct drop_key),
	.key_labels = labels,
	.key_text = key_text,
	.key_note = "stack",
	.key_line = stack_line,
	.key_minor = "benign",
	.key_is_minor = is_benign,
	.settle = settle,
	.attach = attach,
	.elf = drop_bpf__elf_bytes,
};
