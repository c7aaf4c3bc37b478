/* SPDX-License-Identifier: GPL-2.0 */
/* The meter hwstat: statistics of the driver and the card, per queue. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bpf/hwstat/hwstat.h"
#include "lib/core/hook.h"
#include "lib/util/list.h"
#include "lib/util/log.h"

static const struct metric metrics[] = {
	COUNTER(struct hwstat, value, .name = "value", .unit = "value",
		.help = "Growth of the statistic since attach, in its unit."),
	{}
};

static const char *const labels[] = { "direction", "queue", "statistic", "source", NULL };

static const char *name_of(const struct hwstat_key *key)
{
	return key->rank == HWSTAT_OWN ? key->own : stat_names[key->rank].name;
}

static void key_text(const void *of, unsigned nr, char *out, size_t size)
{
	static const char *const ways[] = { "rx", "tx", "-" };
	ONE_EACH(ways, NR_STAT_WAYS);
	static const char *const sources[] = { "qstats", "ethtool -S", "ip -s link" };
	ONE_EACH(sources, NR_HWSTAT_SOURCES);
	const struct hwstat_key *key = of;
	unsigned queue = hwstat_queue(key);

	switch (nr) {
	case 0:
		snprintf(out, size, "%s", ways[key->way]);
		break;
	case 1:
		snprintf(out, size, queue == HWSTAT_ALL ? "all" : "%u", queue);
		break;
	case 2:
		snprintf(out, size, "%s", name_of(key));
		break;
	default:
		snprintf(out, size, "%s", sources[key->source]);
	}
}

/* Only the driver knows the unit of a statistic without a common name. */
static const char *key_unit(const void *of)
{
	const struct hwstat_key *key = of;
	const char *name = name_of(key);

	if (key->rank == HWSTAT_OWN)
		return "own";
	if (strstr(name, "bytes"))
		return "bytes";
	return !strncmp(stat_find(name)->help, "packets", 7) ? "packets" : "events";
}

static bool key_is_minor(const void *key)
{
	return ((const struct hwstat_key *)key)->rank == HWSTAT_OWN;
}

static const char *remark(const struct site *site)
{
	struct meta meta = { .ifindex = site->iface.ifindex };

	snprintf(meta.driver, sizeof(meta.driver), "%s", site->iface.driver);
	return hwstat_without(&meta);
}

/*
 * A queue that had been in use before attach and is used again continues its counters. In that case
 * the counters of the queues present at attach do not add up to those of the interface.
 */
static bool began(const struct table *then, const void *of)
{
	const struct hwstat_key *key = of, *keys = (const void *)then->keys;
	const char *packets = key->way == STAT_RX ? "rx_packets" : "tx_packets";
	uint64_t all = 0, queues = 0;
	bool any = false;

	for (unsigned row = 0; row < then->rows && key->way != STAT_NEITHER; row++) {
		if (keys[row].way != key->way || keys[row].rank == HWSTAT_OWN ||
		    strcmp(stat_names[keys[row].rank].name, packets))
			continue;
		if (hwstat_queue(&keys[row]) != HWSTAT_ALL) {
			queues += then->cells[row];
			continue;
		}
		any = true;
		all = then->cells[row];
	}
	return any && all == queues;
}

const struct meter meter_hwstat = {
	.name = "hwstat",
	.help = "statistics of the driver and the card, by queue",
	.type = READ_METER,
	.by = BY_KEY,
	.point = RX_NIC,
	.row_size = sizeof(struct hwstat),
	.metrics = metrics,
	.key = {
		.size = sizeof(struct hwstat_key),
		.labels = labels,
		.text = key_text,
		.unit = key_unit,
		.minor = "own",
		.is_minor = key_is_minor,
		.sorted = true,
	},
	.layout = LAYOUT_ACROSS,
	.read = hwstat_read,
	.began = began,
	.remark = remark,
};
