/* SPDX-License-Identifier: GPL-2.0 */
/* The meter firstbyte: how long servers take to answer, as programs of this host have it. */
#include "bpf/firstbyte/firstbyte.h"
#include "lib/core/hook.h"
#include "lib/core/meter.h"

static const struct metric metrics[] = {
	COUNTER(struct firstbyte, answered, .name = "answered", .unit = "connections",
		.help = "Connections asked for by this host of which a program has read."),
	COUNTER(struct firstbyte, silent, .name = "silent", .unit = "connections", .rare = true,
		.help = "Such connections that ended, and nothing was read of them."),
	HISTOGRAM(struct firstbyte, latency, .name = "latency", .unit = "seconds", .scale = 1e-9,
		  .help = "From connect() to the first byte that the program reads."),
	HISTOGRAM(struct firstbyte, answer, .name = "answer", .unit = "seconds", .scale = 1e-9,
		  .help = "Of that, from established on."),
	{}
};

static int fill(const struct site *site, struct bpf_object *obj)
{
	(void)site;
	return remotes_reserve(obj, "firstbyte", &(struct firstbyte_key){}, 1);
}

const struct meter meter_firstbyte = {
	.name = "firstbyte",
	.help = "from connect() to the first byte read, by remote host and process",
	.type = EVENT_METER,
	.host = true,
	.by = BY_KEY,
	.row_size = sizeof(struct firstbyte),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct firstbyte_key),
		.labels = connect_labels,
		.text = connect_words,
	},
	.events = { .fill = fill },
	.on_request = "it runs for each receive from a TCP socket: 0.1 us",
};
