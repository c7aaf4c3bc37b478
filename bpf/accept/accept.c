/* SPDX-License-Identifier: GPL-2.0 */
/* The meter accept: connections that come to listeners, and the queue they wait in. */
#include <stdio.h>

#include "bpf/accept/accept.h"
#include "lib/core/hook.h"
#include "lib/core/meter.h"
#include "lib/kernel/btf.h"
#include "lib/kernel/feature.h"

static const uint64_t bounds[] = { COUNTS_BOUNDS };

static const struct metric metrics[] = {
	COUNTER(struct accept, connections, .name = "connections", .unit = "connections",
		.help = "Connections established and put into the accept queue."),
	COUNTER(struct accept, filled, .name = "filled", .unit = "connections",
		.help = "Of these, the ones that took the last place in it."),
	HISTOGRAM(struct accept, depth, .name = "depth", .unit = "connections", .scale = 1,
		  .bounds = BOUNDS(struct accept, depth, bounds), .steps = COUNTS_STEPS,
		  .help = "Connections that waited in the queue already, when one came."),
	HISTOGRAM(struct accept, syn_depth, .name = "syn_depth", .unit = "connections", .scale = 1,
		  .bounds = BOUNDS(struct accept, syn_depth, bounds), .steps = COUNTS_STEPS,
		  .help = "Handshakes in the SYN queue that were not complete, when one was."),
	HISTOGRAM(struct accept, wait, .name = "wait", .unit = "seconds", .scale = 1e-9,
		  .help = "From the end of the handshake to accept()."),
	{}
};

enum label { PORT, PROCESS, LIMIT };
static const char *const labels[] = { "port", "process", "limit", NULL };

static void key_words(const void *of, unsigned nr, char *out, size_t size)
{
	const struct accept_key *key = of;

	switch ((enum label)nr) {
	case PORT:
		snprintf(out, size, key->port ? "%u" : REMOTE_OTHERS, key->port);
		break;
	case PROCESS:
		if (key->port)
			comm_text(key->comm, out, size);
		else
			snprintf(out, size, "-");
		break;
	case LIMIT:
		snprintf(out, size, key->port ? "%u" : "-", key->limit);
	}
}

static int fill(const struct site *site, struct bpf_object *obj)
{
	(void)site;
	return remotes_reserve(obj, "accept", &(struct accept_key){}, 1);
}

static const char *remark(const struct site *site)
{
	(void)site;
	if (kernel_lacks(FEATURE_FENTRY))
		return "without the wait for accept(): no tracepoint shows it, and this kernel "
		       "takes no programs at functions";
	return kernel_function("security_sock_graft") ? NULL :
	       "without the wait for accept(): this kernel has no security_sock_graft()";
}

const struct meter meter_accept = {
	.name = "accept",
	.help = "connections that come to listeners, and how full their queues are",
	.type = EVENT_METER,
	.host = true,
	.by = BY_KEY,
	.row_size = sizeof(struct accept),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct accept_key),
		.labels = labels,
		.text = key_words,
	},
	.events = { .fill = fill },
	.remark = remark,
};
