/* SPDX-License-Identifier: GPL-2.0 */
/* How many rows each map of an object gets. */
#include <string.h>

#include <bpf/libbpf.h>

#include "lib/attach/begin.h"
#include "lib/attach/object.h"
#include "lib/attach/sizes.h"
#include "lib/core/meter.h"
#include "lib/core/pace.h"
#include "lib/proc/cpus.h"

static const struct map_plan common[] = {	/* maps that meters and hooks share */
	{ "lost", .pinned = true },
	{ PACE_MAP, .pinned = true },
	{ PACE_PLAN_MAP, .pinned = true },
	{ BEGUN_MAP, .pinned = true },
	{ NAPI_QUEUES, .pinned = true },
	{ "napi_nameless", .pinned = false },
	{}
};

bool map_is_common(const char *name)
{
	for (const struct map_plan *p = common; p->name; p++)
		if (!strcmp(p->name, name))
			return true;
	return false;
}

/* The plan of a map; NULL: it has none, stays as declared and is not pinned. */
static const struct map_plan *plan_find(const char *name)
{
	for (int id = -1; id < NR_METERS; id++) {
		const struct map_plan *p = id < 0 ? common : meters[id]->type == EVENT_METER ?
					   meters[id]->events.maps : NULL;

		for (; p && p->name; p++)
			if (!strcmp(p->name, name))
				return p;
	}
	return NULL;
}

bool map_is_pinned(const char *name)
{
	const struct map_plan *plan = plan_find(name);

	return meter_find(name) || (plan && plan->pinned);
}

/* Most objects have the maps of packet meters; these need no room if no such meter is on. */
static bool idle(const struct config *config, const struct meter *m)
{
	for (int id = 0; id < NR_METERS; id++)
		if (config->on >> id & 1 && meters[id]->type == PACKET_METER)
			return false;
	return m->type == PACKET_METER;
}

/* Rows that each CPU has. */
static unsigned stride(const struct meter *m, unsigned rows)
{
	return m->key.table ? table_stride(libbpf_num_possible_cpus()) : meter_stride(m, rows);
}

static unsigned rows_of_all(const struct config *config, const struct meter *m)
{
	return idle(config, m) ? 1 : stride(m, config->rows) * cpus_end();
}

unsigned map_entries(const struct site *site, const struct bpf_map *map)
{
	const char *name = bpf_map__name(map);
	const struct map_plan *plan = plan_find(name);
	const struct meter *m = meter_find(name);

	if (plan)
		return plan->entries ? plan->entries(&site->config) : 0;
	if (strstr(name, SCRATCH_SUFFIX))
		return site->config.scratch;
	if (!m)
		return 0;
	if (m->key.table)
		return site->config.end[meter_id(m)];
	if (idle(&site->config, m))
		return 1;
	return m->by & BY_KEY ? m->key.per_queue * site->config.rows :
	       meter_rows(m, site->config.rows) * meter_lanes(m);
}

void config_complete(struct config *config)
{
	for (int id = 0; id < NR_METERS; id++) {
		config->stride[id] = stride(meters[id], config->rows);
		config->end[id] = rows_of_all(config, meters[id]);
	}
	config->set_shift = 64 - __builtin_ctz(table_sets(libbpf_num_possible_cpus()));
}
