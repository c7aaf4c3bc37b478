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
static bool idle(const struct site *site, const struct meter *m)
{
	for (int id = 0; id < NR_METERS; id++)
		if (site->config.on >> id & 1 && meters[id]->type == PACKET_METER)
			return false;
	return m->type == PACKET_METER;
}

/* Entries that each CPU has. */
static unsigned stride(const struct meter *m, unsigned rows)
{
	return m->key.table ? table_stride(libbpf_num_possible_cpus()) : meter_stride(m, rows);
}

unsigned map_rows(const struct meter *m, unsigned rows, const struct bpf_map *map)
{
	return bpf_map__map_flags(map) & BPF_F_MMAPABLE ? stride(m, rows) * cpus_end() :
	       meter_rows(m, rows) * meter_lanes(m);
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
	if (idle(site, m))
		return 1;
	return m->by & BY_KEY && !m->key.table ? m->key.per_queue * site->config.rows :
						 map_rows(m, site->config.rows, map);
}

int config_set(const struct config *config, struct bpf_map *map)
{
	unsigned sets = table_sets(libbpf_num_possible_cpus());
	struct config c = *config;

	for (int id = 0; id < NR_METERS; id++)
		c.stride[id] = stride(meters[id], c.rows);
	c.set_shift = 64 - __builtin_ctz(sets);
	return bpf_map__set_initial_value(map, &c, sizeof(c));
}
