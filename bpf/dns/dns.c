/* SPDX-License-Identifier: GPL-2.0 */
/* The meter dns: questions of this host to name servers. */
#include "bpf/dns/dns.h"
#include "lib/core/hook.h"
#include "lib/core/meter.h"

const char *const dns_answer_names[NR_DNS_ANSWERS] = {
	[DNS_OK] = "ok",
	[DNS_NXDOMAIN] = "nxdomain",
	[DNS_SERVFAIL] = "servfail",
	[DNS_REFUSED] = "refused",
	[DNS_OTHER] = "other",
};

static const struct metric metrics[] = {
	COUNTER(struct dns, asked, .name = "asked", .unit = "queries",
		.help = "Queries sent; one that is sent again from the same port counts once."),
	LEVEL(struct dns, unanswered, .name = "unanswered", .unit = "queries",
	      .help = "Queries of the last ten seconds that have no answer after two."),
	COUNTER(struct dns, again, .name = "again", .unit = "queries", .rare = true,
		.help = "Queries sent again from the same port, as no answer came."),
	COUNTER(struct dns, answers, .name = "answers", .unit = "answers",
		.help = "First answers by their response code.", .label = "code",
		.labels = LABELS(struct dns, answers, dns_answer_names), .rare = true),
	COUNTER(struct dns, truncated, .name = "truncated", .unit = "answers", .rare = true,
		.help = "Of the answers: too long for a datagram; who asks asks again by TCP."),
	COUNTER(struct dns, late, .name = "stray", .unit = "answers", .rare = true,
		.help = "Further answers, and those to no query that is known."),
	COUNTER(struct dns, unread, .name = "unread", .unit = "packets", .rare = true,
		.help = "Packets from or to port 53 of which the header could not be read."),
	HISTOGRAM(struct dns, latency, .name = "latency", .unit = "seconds", .scale = 1e-9,
		  .help = "From the query to its first answer."),
	{}
};

static int fill(const struct site *site, struct bpf_object *obj)
{
	(void)site;
	return remotes_reserve(obj, "dns", &(struct asker_key){}, 1);
}

static int fixup(const char *pins, struct table *t)
{
	return roundtrips_waiting(pins, "dns_questions", t, WORD(struct dns, unanswered));
}

static const struct map_plan maps[] = { { "dns_questions", .pinned = true }, {} };

const struct meter meter_dns = {
	.name = "dns",
	.help = "queries to name servers: how long answers take, how they fail",
	.type = EVENT_METER,
	.host = true,
	.by = BY_KEY,
	.row_size = sizeof(struct dns),
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
