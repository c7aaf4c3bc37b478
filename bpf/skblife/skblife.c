/* SPDX-License-Identifier: GPL-2.0 */
/* The meter skblife: how long packets are in this host, and where. */
#include <stdio.h>

#include "bpf/skblife/skblife.h"
#include "lib/read/snapshot.h"
#include "lib/util/list.h"
#include "lib/util/log.h"

static const char *const ends[] = {
	[LIFE_READ] = "read",
	[LIFE_USED] = "used",
	[LIFE_FORWARDED] = "forwarded",
	[LIFE_SENT] = "sent",
	[LIFE_DROPPED] = "dropped",
};

static const char *const losses[] = {
	[LIFE_MERGED] = "merged",
	[LIFE_COALESCED] = "coalesced",
	[LIFE_SEGMENTED] = "segmented",
	[LIFE_UNSEEN] = "unseen",
	[LIFE_FULL] = "table-full",
};

static const char *const stages[] = {
	[LIFE_WHOLE] = "whole",
	[LIFE_GRO] = "gro",
	[LIFE_STACK] = "stack",
	[LIFE_SOCKET] = "socket",
	[LIFE_QDISC] = "qdisc",
	[LIFE_DRIVER] = "driver",
};
ONE_EACH(stages, NR_LIFE_STAGES);

static const struct metric metrics[] = {
	HISTOGRAM(struct skblife, time, .name = "time", .unit = "seconds", .scale = 1e-9,
		  .help = "Time in this stage of packets that were followed to their end."),
	LEVEL(struct skblife, came, .name = "now", .unit = "packets",
	      .help = "Followed packets that are in this stage."),
	COUNTER(struct skblife, ended, .name = "ended", .unit = "packets",
		.label = "how", .labels = LABELS(struct skblife, ended, ends),
		.help = "Followed packets that ended in this stage, by how."),
	COUNTER(struct skblife, lost, .name = "lost", .unit = "packets",
		.label = "cause", .labels = LABELS(struct skblife, lost, losses),
		.help = "Followed packets that were lost from sight in this stage, by cause."),
	{}
};

static void key_text(const void *key, unsigned nr, char *to, size_t size)
{
	const struct skblife_key *k = key;
	unsigned queue = k->queue[0] << 8 | k->queue[1];

	if (nr == 0)
		snprintf(to, size, "%s", k->sent ? "tx" : "rx");
	else if (nr == 2)
		snprintf(to, size, "%s", k->stage < NR_LIFE_STAGES ? stages[k->stage] : "?");
	else if (queue == 0xffff)
		snprintf(to, size, "unknown");
	else
		snprintf(to, size, "%u", queue);
}

/* A packet that it follows goes from device to device. */
static bool wanders(const struct config *c)
{
	(void)c;
	return true;
}

const struct meter meter_skblife = {
	.name = "skblife",
	.help = "how long a packet is in this host, and where",
	.type = EVENT_METER,
	.by = BY_KEY,
	.row_size = sizeof(struct skblife),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct skblife_key),
		.labels = (const char *const []){ "way", "queue", "stage", NULL },
		.text = key_text,
		.sorted = true,
	},
	.events = { .prefix = "life", .global = true, .wanders = wanders },
	.sample = 64,
	.thins = { .take = 1250, .pass = 60 },
	.on_request = "it traces packets of all interfaces, including reads and frees: 0.1 us per "
		      "packet sent or received",
};
