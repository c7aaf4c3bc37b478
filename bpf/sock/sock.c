/* SPDX-License-Identifier: GPL-2.0 */
/* The meter sock: system calls to sockets. */
#include <stdio.h>

#include "bpf/host/calls.h"
#include "bpf/host/kinds.h"
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
		snprintf(out, size, "%s", calls[key->call % NR_SOCK_CALLS]);
		break;
	case FAMILY:
		family_text(key->family, out, size);
		break;
	case PROTOCOL:
		protocol_text(key->family, key->type, key->protocol, out, size);
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
