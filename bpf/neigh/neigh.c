/* SPDX-License-Identifier: GPL-2.0 */
/* The meter neigh: how long neighbours take to tell their address, and what is dropped for it. */
#include <stdio.h>
#include <sys/socket.h>

#include "bpf/host/remote.h"
#include "bpf/neigh/neigh.h"
#include "lib/core/hook.h"
#include "lib/core/meter.h"

static const char *const ends[] = {
	[NEIGH_ANSWERED] = "answered",
	[NEIGH_FAILED] = "failed",
	[NEIGH_DELETED] = "deleted",
	[NEIGH_SET] = "set",
};

static const char *const drops[] = {
	[NEIGH_DROP_OVERFLOW] = "overflow",
	[NEIGH_DROP_FAILED] = "failed",
	[NEIGH_DROP_DELETED] = "deleted",
	[NEIGH_DROP_DEAD] = "dead",
};

static const char *const confirms[] = {
	[NEIGH_CONFIRMED] = "confirmed",
	[NEIGH_SILENT] = "silent",
};

static const struct metric metrics[] = {
	COUNTER(struct neigh, ends, .name = "resolutions", .unit = "resolutions",
		.help = "Searches for the address of a neighbour that ended, by how.",
		.label = "end", .labels = LABELS(struct neigh, ends, ends), .rare = true),
	COUNTER(struct neigh, untimed, .name = "untimed", .unit = "resolutions", .rare = true,
		.help = "Of those answered: the latency is not known."),
	COUNTER(struct neigh, solicits, .name = "solicits", .unit = "packets",
		.help = "Questions for an address: ARP requests, neighbour solicitations."),
	COUNTER(struct neigh, waited, .name = "waited", .unit = "packets",
		.help = "Packets that waited for an address."),
	COUNTER(struct neigh, drops, .name = "dropped", .unit = "packets", .group = "dropped",
		.help = "Packets dropped, as no address was known for them, by why.",
		.label = "reason", .labels = LABELS(struct neigh, drops, drops), .rare = true),
	COUNTER(struct neigh, confirms, .name = "confirmations", .unit = "confirmations",
		.help = "Known neighbours that were asked whether they are still there, by result.",
		.label = "result", .labels = LABELS(struct neigh, confirms, confirms),
		.rare = true),
	COUNTER(struct neigh, probes, .name = "probes", .unit = "packets", .rare = true,
		.help = "Questions to known neighbours."),
	COUNTER(struct neigh, refused, .name = "refused", .unit = "entries", .rare = true,
		.help = "Entries for which the neighbour table had no room (gc_thresh3)."),
	HISTOGRAM(struct neigh, latency, .name = "latency", .unit = "seconds", .scale = 1e-9,
		  .help = "From the first packet that waits to the answer."),
	HISTOGRAM(struct neigh, confirming, .name = "confirm", .unit = "seconds",
		  .scale = 1e-9,
		  .help = "From the first question to a known neighbour to its answer."),
	{}
};

enum label { DEVICE, FAMILY };
static const char *const labels[] = { "device", "family", NULL };

static void key_words(const void *of, unsigned nr, char *out, size_t size)
{
	const struct neigh_key *key = of;

	switch ((enum label)nr) {
	case DEVICE:
		snprintf(out, size, "%.*s", NEIGH_NAME_SIZE,
			 *key->device ? key->device : REMOTE_OTHERS);
		break;
	case FAMILY:
		snprintf(out, size, "%s", key->family == AF_INET ? "inet" :
			 key->family == AF_INET6 ? "inet6" : "-");
	}
}

static int fill(const struct site *site, struct bpf_object *obj)
{
	(void)site;
	return remotes_reserve(obj, "neigh", &(struct neigh_key){}, 1);
}

const struct meter meter_neigh = {
	.name = "neigh",
	.help = "ARP and neighbour discovery: latency, packets that wait, those dropped",
	.type = EVENT_METER,
	.host = true,
	.by = BY_KEY,
	.row_size = sizeof(struct neigh),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct neigh_key),
		.labels = labels,
		.text = key_words,
	},
	.events = { .fill = fill },
};
