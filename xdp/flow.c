/* SPDX-License-Identifier: GPL-2.0 */
/* The meter flow, and the text of its keys. */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>

#include "lib/attach/attach.h"
#include "lib/read/snapshot.h"
#include "lib/util/log.h"
#include "xdp/flow.h"

static const struct metric metrics[] = {
	COUNTER(struct flow, packets, .name = "estimated_packets", .unit = "packets",
		.help = "Packets of the flow, estimated: sampled packets times the sampling "
			"interval."),
	COUNTER(struct flow, bytes, .name = "estimated_bytes", .unit = "bytes",
		.help = "Bytes of the flow, estimated likewise."),
	COUNTER(struct flow, samples, .name = "samples", .family = "flow_samples",
		.unit = "packets",
		.help = "Sampled packets of the flow."),
	{}
};

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

static void configure(const struct iface *i, const struct request *req, struct config *c)
{
	(void)i;
	c->flow_sample = req->sample ?: FLOW_SAMPLE;
}

const struct meter meter_flow = {
	.name = "flow",
	.help = "which flows fill the receive queues, estimated from samples",
	.type = PACKET_METER,
	.by = BY_KEY,
	.point = RX_NIC,
	.row_size = sizeof(struct flow),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct flow_key),
		.labels = labels,
		.text = key_text,
		.each = "flow",
		.evicts = true,
	},
	.configure = configure,
	.sample = FLOW_SAMPLE,
};
