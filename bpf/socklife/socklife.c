/* SPDX-License-Identifier: GPL-2.0 */
/* The meter socklife: sockets that are no TCP connections, when they end. */
#include <stdio.h>

#include "bpf/host/kinds.h"
#include "bpf/socklife/socklife.h"
#include "lib/core/hook.h"
#include "lib/core/meter.h"
#include "lib/kernel/btf.h"
#include "lib/kernel/feature.h"

static const struct metric metrics[] = {
	COUNTER(struct socklife, older, .name = "older", .unit = "sockets", .rare = true,
		.help = "Sockets that ended and began before attach: not counted otherwise."),
	COUNTER(struct socklife, received, .name = "received", .unit = "bytes",
		.help = "Bytes received in the whole life."),
	COUNTER(struct socklife, sent, .name = "sent", .unit = "bytes",
		.help = "Bytes sent in the whole life."),
	COUNTER(struct socklife, receives, .name = "receives", .unit = "messages",
		.help = "Messages received: of UDP, datagrams."),
	COUNTER(struct socklife, sends, .name = "sends", .unit = "messages",
		.help = "Messages sent."),
	HISTOGRAM(struct socklife, duration, .name = "duration", .unit = "seconds", .scale = 1e-6,
		  .help = "From socket() until the last descriptor is closed, of each that ended."),
	{}
};

enum label { FAMILY, PROTOCOL, REMOTE, PORT, PROCESS };
static const char *const labels[] = { "family", "protocol", "remote", "port", "process", NULL };

static void key_words(const void *of, unsigned nr, char *out, size_t size)
{
	const struct socklife_key *key = of;

	if (!key->family) {
		snprintf(out, size, nr == FAMILY ? REMOTE_OTHERS : "-");
		return;
	}
	switch ((enum label)nr) {
	case FAMILY:
		family_text(key->family, out, size);
		break;
	case PROTOCOL:
		protocol_text(key->family, key->type, key->protocol, out, size);
		break;
	case REMOTE:
		if (remote_is_none(&key->remote))
			snprintf(out, size, "-");
		else
			address_text(&key->remote, out, size);
		break;
	case PORT:
		snprintf(out, size, key->port ? "%u" : "-", key->port);
		break;
	case PROCESS:
		comm_text(key->comm, out, size);
	}
}

static int fill(const struct site *site, struct bpf_object *obj)
{
	(void)site;
	return remotes_reserve(obj, "socklife", &(struct socklife_key){}, 1);
}

static bool by_tracepoints(void)
{
	return !kernel_lacks(FEATURE_TP_BTF) && tracepoint_args("sock_send_length");
}

const char *socklife_cannot(void)
{
	if (kernel_lacks(FEATURE_CGROUP))
		return kernel_lacks(FEATURE_CGROUP);
	return by_tracepoints() || !kernel_lacks(FEATURE_FENTRY) ? NULL :
	       "what sockets send and receive is shown neither by tracepoints (Linux 6.3) nor by "
	       "functions";
}

static const char *remark(const struct site *site)
{
	(void)site;
	if (kernel_lacks(FEATURE_FENTRY))
		return "sees sockets of IPv4 and IPv6 only: those of other families are shown by "
		       "functions, which this kernel lets no program follow";
	return by_tracepoints() ? NULL : "counts bytes at functions, before Linux 6.3: not those "
					 "that splice() and sendfile() send";
}

const struct meter meter_socklife = {
	.name = "socklife",
	.help = "sockets that ended and were no TCP connection: who, how long, how many bytes",
	.type = EVENT_METER,
	.host = true,
	.by = BY_KEY,
	.row_size = sizeof(struct socklife),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct socklife_key),
		.labels = labels,
		.text = key_words,
	},
	.events = { .fill = fill },
	.cannot = socklife_cannot,
	.remark = remark,
	.on_request = "it runs for each message that a socket of the machine sends or receives: "
		      "0.1 us; and 2 us per socket that is made and closed",
};
