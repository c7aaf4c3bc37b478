/* SPDX-License-Identifier: GPL-2.0 */
/* The meter dns: questions of this host to name servers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "bpf/dns/dns.h"
#include "lib/attach/pins.h"
#include "lib/core/hook.h"
#include "lib/core/meter.h"
#include "lib/read/snapshot.h"
#include "lib/util/clock.h"
#include "lib/util/log.h"

static const char *const answers[] = {
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
		.labels = LABELS(struct dns, answers, answers), .rare = true),
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

enum label { SERVER, PROCESS };
static const char *const labels[] = { "remote", "process", NULL };

static void key_words(const void *of, unsigned nr, char *out, size_t size)
{
	static const struct remote none;
	const struct dns_key *key = of;

	switch ((enum label)nr) {
	case SERVER:
		remote_text(&key->server, out, size);
		break;
	case PROCESS:
		if (memcmp(&key->server, &none, sizeof(none)))
			comm_text(key->comm, out, size);
		else
			snprintf(out, size, "-");
	}
}

static int fill(const struct site *site, struct bpf_object *obj)
{
	(void)site;
	return remotes_reserve(obj, "dns", &(struct dns_key){}, 1);
}

static struct dns *row_at(const struct table *t, const struct dns_key *key)
{
	for (unsigned row = 0; row < t->rows; row++)
		if (!memcmp(t->keys + row * sizeof(*key), key, sizeof(*key)))
			return (void *)(t->cells + (size_t)row * t->words);
	return NULL;
}

/* The row of a question; NULL: it came after the rows were read. */
static struct dns *row_of(const struct table *t, const struct dns_question *of,
			  const struct dns_asked *asked)
{
	struct dns_key key = { .server = of->server }, others = {};

	memcpy(key.comm, asked->comm, sizeof(key.comm));
	return row_at(t, &key) ?: row_at(t, &others);
}

#define BATCH 1024

/* Counts the questions that wait, which no event tells. */
static int fixup(const char *pins, struct table *t)
{
	struct dns_question *questions = malloc(BATCH * sizeof(*questions));
	struct dns_asked *asked = malloc(BATCH * sizeof(*asked));
	int fd = pin_read(text("%s/dns_questions", pins)), err = 0;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	__u32 from, nr, *before = NULL;

	while (questions && asked && fd >= 0 && !err) {
		nr = BATCH;
		err = bpf_map_lookup_batch(fd, before, &from, questions, asked, &nr, NULL);
		before = &from;
		for (__u32 i = 0; i < nr && (!err || errno == ENOENT); i++) {
			uint64_t ago = now - asked[i].since;
			struct dns *row = !asked[i].answered && ago >= DNS_UNANSWERED_FROM &&
					  ago < DNS_UNANSWERED_TO ?
					  row_of(t, &questions[i], &asked[i]) : NULL;

			if (row)
				row->unanswered[0]++;
		}
	}
	if (fd >= 0)
		close(fd);
	free(questions);
	free(asked);
	return 0;
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
		.size = sizeof(struct dns_key),
		.labels = labels,
		.text = key_words,
	},
	.events = { .fill = fill, .maps = maps },
	.fixup = fixup,
	.on_request = "it looks at the headers of all packets of the host: 0.1 us per packet sent "
		      "and received",
};
