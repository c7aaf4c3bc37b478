/* SPDX-License-Identifier: GPL-2.0 */
/* How a flow reads, and which one fills a queue all by itself. */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>

#include "../lib/log.h"
#include "flow.h"
#include "spread.h"

static const struct metric metrics[] = {
	COUNTER(struct flow, packets, .name = "estimated_packets", .unit = "packets",
		.help = "Packets of the flow, estimated: those looked at, times one in how many."),
	COUNTER(struct flow, bytes, .name = "estimated_bytes", .unit = "bytes",
		.help = "Their bytes, estimated as the packets are."),
	COUNTER(struct flow, samples, .name = "samples", .unit = "packets",
		.help = "Packets of the flow that were looked at."),
	{}
};

#define ENOUGH 30	/* samples of a queue: a share of one half is known to 9 percent points */

enum { LABEL_QUEUE, LABEL_FLOW };
static const char *const labels[] = { "queue", "flow", NULL };

static const char *protocol(unsigned number)
{
	static const struct { unsigned number; const char *name; } names[] = {
		{ IPPROTO_TCP, "tcp" }, { IPPROTO_UDP, "udp" }, { IPPROTO_ICMP, "icmp" },
		{ IPPROTO_ICMPV6, "icmp6" }, { IPPROTO_SCTP, "sctp" }, { IPPROTO_GRE, "gre" },
		{ IPPROTO_ESP, "esp" },
	};

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].number == number)
			return names[i].name;
	return text("protocol %u", number);
}

static const char *side(const struct flow_key *key, const __u32 *address, __u16 port)
{
	bool v6 = key->family == 6;
	char name[INET6_ADDRSTRLEN];

	inet_ntop(v6 ? AF_INET6 : AF_INET, address, name, sizeof(name));
	if (!key->port[0] && !key->port[1])
		return text("%s", name);
	return text(v6 ? "[%s]:%u" : "%s:%u", name, ntohs(port));
}

static const char *flow_name(const struct flow_key *key)
{
	if (!key->family)
		return text("not IP, type 0x%04x", ntohs(key->port[0]));
	return text("%s > %s %s", side(key, key->src, key->port[0]),
		    side(key, key->dst, key->port[1]), protocol(key->proto));
}

static void key_text(const void *k, unsigned nr, char *to, size_t size)
{
	const struct flow_key *key = k;

	if (nr == LABEL_FLOW)
		snprintf(to, size, "%s", flow_name(key));
	else if (key->queue == FLOW_UNKNOWN)
		snprintf(to, size, "unknown");
	else
		snprintf(to, size, "%u", key->queue);
}

struct largest flow_largest(const struct snapshot *s, int queue)
{
	const struct table *t = &s->tables[METER_flow];
	uint64_t most = 0, all = 0, samples = 0;
	struct largest largest = {};

	for (unsigned row = 0; t->keys && row < t->rows; row++) {
		const struct flow_key *key = (void *)(t->keys + row * sizeof(*key));
		uint64_t n = *cell(t, row, 0, &metrics[0]);

		if (!n || (queue >= 0 && key->queue != queue))
			continue;
		all += n;
		samples += *cell(t, row, 0, &metrics[2]);
		largest.flows++;
		if (n > most) {
			most = n;
			largest.name = flow_name(key);
		}
	}
	largest.share = all ? (double)most / all : 0;
	largest.known = samples >= ENOUGH;
	return largest;
}

/* One flow is where it is whatever spreads them: only that and a busy queue make it a finding. */
static void judge(const struct snapshot *s, struct findings *f)
{
	unsigned queues = s->meta.rx_queues;

	for (unsigned queue = 0; queue < queues; queue++) {
		struct largest one = flow_largest(s, queue);

		if (!flow_fills(&one) || !queue_is_hot(s, queue))
			continue;
		finding(f, "flow", text("nothing spreads one flow: keep other work off the CPU of "
					"queue %u, or let it use more connections", queue),
			"one flow, %s, is about %.0f%% of queue %u%s", one.name, 100 * one.share,
			queue, queues > 1 ? text(", which carries %.0f%% of the packets",
						 100 * queue_share(s, queue)) : "");
	}
}

const struct meter meter_flow = {
	.name = "flow",
	.help = "which flows fill the receive queues, estimated from samples",
	.sample = FLOW_SAMPLE,
	.by = BY_KEY,
	.point = RX_NIC,
	.row_size = sizeof(struct flow),
	.metrics = metrics,
	.key_size = sizeof(struct flow_key),
	.evicts = true,
	.key_labels = labels,
	.key_text = key_text,
	.judge = judge,
};
