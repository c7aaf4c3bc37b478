/* SPDX-License-Identifier: GPL-2.0 */
/* The meter tcpwait: how long TCP held data back, by remote host and cause. */
#include <stdio.h>

#include "bpf/tcpwait/tcpwait.h"
#include "lib/core/hook.h"
#include "lib/core/meter.h"

const char *const tcpwait_causes[NR_TCPWAIT] = {
	[TCPWAIT_PACING] = "pacing",
	[TCPWAIT_MAX_RATE] = "max-rate",
	[TCPWAIT_CWND] = "cwnd",
	[TCPWAIT_RWND] = "rwnd",
	[TCPWAIT_NAGLE] = "nagle",
	[TCPWAIT_CORK] = "cork",
	[TCPWAIT_SMALL_QUEUES] = "small-queues",
	[TCPWAIT_OTHER] = "other",
};

static const struct metric metrics[] = {
	HISTOGRAM(struct tcpwait, held, .name = "held", .unit = "seconds", .scale = 1e-9,
		  .help = "How long data that was written was held back, each time."),
	COUNTER(struct tcpwait, bytes, .name = "held", .unit = "bytes",
		.help = "Payload of the buffers whose sending ended a wait."),
	{}
};

enum label { REMOTE, CAUSE };

static void key_words(const void *of, unsigned nr, char *out, size_t size)
{
	const struct tcpwait_key *key = of;

	if (nr == REMOTE)
		remote_text(&key->remote, out, size);
	else
		snprintf(out, size, "%s", key->cause < NR_TCPWAIT && tcpwait_causes[key->cause] ?
			 tcpwait_causes[key->cause] : "-");
}

static int fill(const struct site *site, struct bpf_object *obj)
{
	struct tcpwait_key others[NR_TCPWAIT - 1] = {};

	(void)site;
	for (unsigned i = 1; i < NR_TCPWAIT; i++)
		others[i - 1].cause = i;
	return remotes_reserve(obj, "tcpwait", others, NR_TCPWAIT - 1);
}

const struct meter meter_tcpwait = {
	.name = "tcpwait",
	.help = "how long TCP holds data back, by remote host and cause",
	.type = EVENT_METER,
	.host = true,
	.by = BY_KEY,
	.row_size = sizeof(struct tcpwait),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct tcpwait_key),
		.labels = (const char *const []){ "remote", "cause", NULL },
		.text = key_words,
	},
	.events = { .fill = fill },
	.on_request = "it runs for each packet that the machine sends, and each that a connection "
		      "receives: 0.1 us, and 0.3 us for one that waited",
};
