/* SPDX-License-Identifier: GPL-2.0 */
/* The meter session: TCP connections, when they end. */
#include <stdio.h>

#include "bpf/session/session.h"
#include "lib/core/hook.h"
#include "lib/core/meter.h"

const char *const session_ends[NR_SESSION_ENDS] = {
	[SESSION_CLOSED] = "closed",
	[SESSION_RESET] = "reset",
	[SESSION_ABORTED] = "aborted",
	[SESSION_TIMED_OUT] = "timed-out",
	[SESSION_FAILED] = "failed",
};

static const struct metric metrics[] = {
	COUNTER(struct session, ends, .name = "sessions", .unit = "sessions",
		.help = "Connections that ended, by how.", .label = "end",
		.labels = LABELS(struct session, ends, session_ends), .rare = true),
	COUNTER(struct session, older, .name = "older", .unit = "sessions", .rare = true,
		.help = "Connections that ended and began before attach: not counted otherwise."),
	COUNTER(struct session, received, .name = "received", .unit = "bytes",
		.help = "Payload received."),
	COUNTER(struct session, sent, .name = "sent", .unit = "bytes",
		.help = "Payload sent; what was sent again counts once."),
	COUNTER(struct session, retransmits, .name = "retransmits", .unit = "segments",
		.rare = true, .help = "Segments sent again."),
	HISTOGRAM(struct session, duration, .name = "duration", .unit = "seconds", .scale = 1e-6,
		  .help = "From established to closed."),
	{}
};

enum label { REMOTE, PORT, SIDE, PROCESS };
static const char *const labels[] = { "remote", "port", "side", "process", NULL };

static void key_words(const void *of, unsigned nr, char *out, size_t size)
{
	const struct session_key *key = of;

	switch ((enum label)nr) {
	case REMOTE:
		remote_text(&key->remote, out, size);
		break;
	case PORT:
		snprintf(out, size, key->port ? "%u" : "-", key->port);
		break;
	case SIDE:
		snprintf(out, size, key->serves ? "server" : "client");
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
	static const struct session_key others[] = { { .serves = 0 }, { .serves = 1 } };

	(void)site;
	return remotes_reserve(obj, "session", others, 2);
}

const struct meter meter_session = {
	.name = "session",
	.help = "TCP connections that ended: who, how long, how many bytes, how",
	.type = EVENT_METER,
	.host = true,
	.by = BY_KEY,
	.row_size = sizeof(struct session),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct session_key),
		.labels = labels,
		.text = key_words,
	},
	.events = { .fill = fill },
};
