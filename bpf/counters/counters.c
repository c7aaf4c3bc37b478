/* SPDX-License-Identifier: GPL-2.0 */
/* The meter counters: losses counted by the kernel, the driver and the card. */
#include <stdio.h>
#include <string.h>

#include "bpf/counters/counters.h"
#include "lib/util/log.h"

static const struct metric metrics[] = {
	COUNTER(struct counters, events, .name = "events", .unit = "events",
		.help = "Growth of a loss counter since nicprobe was attached."),
	{}
};

static const char *const labels[] = { "counter", "who", "source", NULL };

static void key_text(const void *of, unsigned nr, char *out, size_t size)
{
	const struct counters_key *key = of;

	snprintf(out, size, "%s", nr == 0 ? key->counter : nr == 1 ? key->who : key->source);
}

/* At attach all driver statistics were read, zeros too: one not there may have counted before. */
static bool began(const struct table *then, const void *key)
{
	(void)then;
	return strcmp(((const struct counters_key *)key)->source, "ethtool -S");
}

const struct meter meter_counters = {
	.name = "counters",
	.help = "losses counted by the kernel, the driver and the card",
	.type = READ_METER,
	.by = BY_KEY,
	.point = RX_STACK,
	.row_size = sizeof(struct counters),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct counters_key),
		.labels = labels,
		.text = key_text,
	},
	.read = counters_read,
	.began = began,
};
