/* SPDX-License-Identifier: GPL-2.0 */
/* The meter icmp: echoes of this host and to it, and the errors that it gets and sends. */
#include "bpf/icmp/icmp.h"
#include "lib/core/hook.h"
#include "lib/core/meter.h"

static const char *const errors[] = {
	[ICMP_NET_UNREACHABLE] = "net-unreachable",
	[ICMP_HOST_UNREACHABLE] = "host-unreachable",
	[ICMP_PROTOCOL_UNREACHABLE] = "protocol-unreachable",
	[ICMP_PORT_UNREACHABLE] = "port-unreachable",
	[ICMP_TOO_BIG] = "too-big",
	[ICMP_PROHIBITED] = "prohibited",
	[ICMP_UNREACHABLE] = "unreachable",
	[ICMP_TTL_EXCEEDED] = "ttl-exceeded",
	[ICMP_REASSEMBLY] = "reassembly",
	[ICMP_REDIRECT] = "redirect",
	[ICMP_PARAMETER] = "parameter",
};

static const struct metric metrics[] = {
	COUNTER(struct icmp, asked, .name = "asked", .unit = "requests",
		.help = "Echo requests sent; one that is sent again counts once."),
	LEVEL(struct icmp, unanswered, .name = "unanswered", .unit = "requests",
	      .help = "Echo requests of the last ten seconds that have no reply after two."),
	COUNTER(struct icmp, again, .name = "again", .unit = "requests", .rare = true,
		.help = "Echo requests sent again, before a reply, with the same number."),
	COUNTER(struct icmp, answered, .name = "answered", .unit = "requests",
		.help = "Echo requests to which a reply came."),
	COUNTER(struct icmp, failed, .name = "failed", .unit = "requests", .rare = true,
		.help = "Echo requests to which an error came, and no reply before."),
	COUNTER(struct icmp, duplicates, .name = "duplicate", .unit = "replies", .rare = true,
		.help = "Further echo replies to one request."),
	COUNTER(struct icmp, stray, .name = "stray", .unit = "replies", .rare = true,
		.help = "Echo replies to no request that is known."),
	COUNTER(struct icmp, replied, .name = "replied", .unit = "requests", .rare = true,
		.help = "Echo requests to which this host replied."),
	COUNTER(struct icmp, received, .name = "received", .unit = "errors",
		.group = "errors received", .label = "error",
		.labels = LABELS(struct icmp, received, errors), .rare = true,
		.help = "Errors that came, also those that this host passes on."),
	COUNTER(struct icmp, forwarded, .name = "forwarded", .unit = "errors",
		.group = "forwarded", .label = "error",
		.labels = LABELS(struct icmp, forwarded, errors), .rare = true,
		.help = "Errors that this host passed on."),
	COUNTER(struct icmp, sent, .name = "sent", .unit = "errors",
		.group = "errors sent", .label = "error",
		.labels = LABELS(struct icmp, sent, errors), .rare = true,
		.help = "Errors that this host sent."),
	COUNTER(struct icmp, unheeded, .name = "unheeded", .unit = "errors", .rare = true,
		.help = "Of those too-big: TCP went on sending packets too big for this path."),
	LEVEL(struct icmp, mtu, .name = "mtu", .unit = "bytes", .rare = true,
	      .help = "The MTU that the last of its errors too-big told; 0: none came."),
	COUNTER(struct icmp, unread, .name = "unread", .unit = "packets", .rare = true,
		.help = "Messages of which the header could not be read."),
	HISTOGRAM(struct icmp, latency, .name = "latency", .unit = "seconds", .scale = 1e-9,
		  .help = "From an echo request to its first reply."),
	HISTOGRAM(struct icmp, replying, .name = "reply", .unit = "seconds", .scale = 1e-9,
		  .help = "From an echo request that came to the reply of this host."),
	{}
};

static int fill(const struct site *site, struct bpf_object *obj)
{
	(void)site;
	return remotes_reserve(obj, "icmp", &(struct asker_key){}, 1);
}

static int fixup(const char *pins, struct table *t)
{
	return roundtrips_waiting(pins, "icmp_echoes", t, WORD(struct icmp, unanswered));
}

static const struct map_plan maps[] = { { "icmp_echoes", .pinned = true }, {} };

const struct meter meter_icmp = {
	.name = "icmp",
	.help = "ICMP: how long echoes take, and errors that come and that are sent, by host",
	.type = EVENT_METER,
	.host = true,
	.by = BY_KEY,
	.row_size = sizeof(struct icmp),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct asker_key),
		.labels = asker_labels,
		.text = asker_text,
	},
	.events = { .fill = fill, .maps = maps },
	.fixup = fixup,
	.on_request = "it looks at the headers of all packets of the host: 0.1 us per packet sent "
		      "and received",
};
