/* SPDX-License-Identifier: GPL-2.0 */
/* The meter connect: TCP connections that this host asks for. */
#include <stdio.h>

#include "bpf/connect/connect.h"
#include "lib/core/hook.h"
#include "lib/core/meter.h"

const char *const connect_ends[NR_CONNECT_ENDS] = {
	[CONNECT_ESTABLISHED] = "established",
	[CONNECT_REFUSED] = "refused",
	[CONNECT_UNANSWERED] = "unanswered",
	[CONNECT_UNREACHABLE] = "unreachable",
	[CONNECT_NO_PORT] = "no-port",
	[CONNECT_GIVEN_UP] = "given-up",
	[CONNECT_FAILED] = "failed",
};

static const struct metric metrics[] = {
	COUNTER(struct connect, attempts, .name = "attempts", .unit = "attempts",
		.help = "Attempts to connect that ended, well or not."),
	COUNTER(struct connect, ends, .name = "ends", .unit = "attempts",
		.help = "The same by how they ended.", .label = "end",
		.labels = LABELS(struct connect, ends, connect_ends), .rare = true),
	COUNTER(struct connect, syns_again, .name = "syns_again", .unit = "segments", .rare = true,
		.help = "SYNs that were sent again, as no answer came."),
	HISTOGRAM(struct connect, latency, .name = "latency", .unit = "seconds", .scale = 1e-9,
		  .help = "From connect() to established, for those established."),
	HISTOGRAM(struct connect, failing, .name = "failing", .unit = "seconds", .scale = 1e-9,
		  .help = "From connect() to the end, for the others."),
	{}
};

enum label { REMOTE, PORT, PROCESS };
const char *const connect_labels[] = { "remote", "port", "process", NULL };

void connect_words(const void *of, unsigned nr, char *out, size_t size)
{
	const struct connect_key *key = of;

	switch ((enum label)nr) {
	case REMOTE:
		remote_text(&key->remote, out, size);
		break;
	case PORT:
		snprintf(out, size, key->port ? "%u" : "-", key->port);
		break;
	case PROCESS:
		if (key->port)
			comm_text(key->comm, out, size);
		else
			snprintf(out, size, "-");
	}
}

static int fill(const struct site *site, struct bpf_object *obj)
{
	(void)site;
	return remotes_reserve(obj, "connect", &(struct connect_key){}, 1);
}

const struct meter meter_connect = {
	.name = "connect",
	.help = "connections that this host asks for: how long they take, how they fail",
	.type = EVENT_METER,
	.host = true,
	.by = BY_KEY,
	.row_size = sizeof(struct connect),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct connect_key),
		.labels = connect_labels,
		.text = connect_words,
	},
	.events = { .fill = fill },
};
