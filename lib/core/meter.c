/* SPDX-License-Identifier: GPL-2.0 */
/* The list of meters, and the names their figures go by. */
#include <stdio.h>
#include <string.h>

#include "lib/core/meta.h"
#include "lib/core/meter.h"
#include "lib/util/list.h"

const struct meter *const meters[NR_METERS] = {
#define M(name) [METER_##name] = &meter_##name,
	METERS(M)
#undef M
};

const char *const point_names[] = {
	[RX_NIC] = "rx-nic",
	[RX_STACK] = "rx-stack",
	[TX_STACK] = "tx-stack",
	[TX_NIC] = "tx-nic",
};
ONE_EACH(point_names, NR_POINTS);

/* FNV-1a */
static __u32 hash_add(__u32 hash, const void *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ ((const unsigned char *)data)[i]) * 16777619;
	return hash;
}

/* Meters have rows in other maps, too: a version that does not know them tells too little. */
static __u32 maps_add(__u32 hash, const struct meter *m)
{
	if (m->type != EVENT_METER || !m->events.maps)
		return hash;
	for (const struct map_plan *map = m->events.maps; map->name; map++)
		hash = hash_add(hash, map->name, strlen(map->name) + 1);
	return hash;
}

__u32 meta_version_of(const struct meter *const list[])
{
	__u32 hash = hash_add(META_VERSION, &(__u32){ sizeof(struct meta) }, 4);

	for (int id = 0; id < NR_METERS; id++) {
		const struct meter *m = list[id];
		const __u32 sizes[] = { m->by, m->lanes, m->row_size, m->moments, m->key.size };

		hash = hash_add(hash, m->name, strlen(m->name) + 1);
		hash = hash_add(hash, sizes, sizeof(sizes));
		hash = maps_add(hash, m);
		for_each_metric(k, m) {
			const __u32 words[] = { k->kind, k->at, k->words };

			hash = hash_add(hash, k->name, strlen(k->name) + 1);
			hash = hash_add(hash, words, sizeof(words));
		}
	}
	return hash;
}

__u32 meta_version(void)
{
	static __u32 known;

	if (!known)
		known = meta_version_of(meters);
	return known;
}

const struct meter *meter_find(const char *name)
{
	for (int id = 0; id < NR_METERS; id++)
		if (!strcmp(meters[id]->name, name))
			return meters[id];
	return NULL;
}

enum meter_id meter_id(const struct meter *m)
{
	int id = 0;

	while (meters[id] != m)
		id++;
	return id;
}

unsigned meter_sample(const struct meter *m, const struct meta *meta)
{
	return meter_adapts(m, meta) ? 1 : meta->sample ?: m->sample ?: 1;
}

bool meter_adapts(const struct meter *m, const struct meta *meta)
{
	return m->thins.take && meta->adapts >= (m->sample ? ADAPTS_ASKED : ADAPTS);
}

uint64_t meter_needs(const struct meter *m)
{
	return m->type == DERIVED_METER ? m->derived.needs : 0;
}

uint64_t meter_uses(const struct meter *m)
{
	return m->type == DERIVED_METER ? m->derived.uses : 0;
}

uint64_t meters_needed(uint64_t bits)
{
	uint64_t all = bits;

	for (int id = 0; id < NR_METERS; id++)
		if (bits >> id & 1)
			all |= meter_needs(meters[id]);
	return all;
}

uint64_t meters_of(bool host)
{
	uint64_t bits = 0;

	for (int id = 0; id < NR_METERS; id++)
		bits |= (uint64_t)(meters[id]->host == host) << id;
	return bits;
}

uint64_t meters_default(void)
{
	uint64_t bits = 0;

	for (int id = 0; id < NR_METERS; id++)
		bits |= (uint64_t)!meters[id]->on_request << id;
	return bits;
}

unsigned meter_points(const struct meter *m)
{
	if (!(m->by & BY_POINT))
		return 1 << m->point;
	return m->points ?: (1 << NR_POINTS) - 1;
}

unsigned meter_rows(const struct meter *m, unsigned rows)
{
	return (m->by & BY_QUEUE ? rows : 1) * (m->by & BY_POINT ? NR_POINTS : 1);
}

unsigned meter_lanes(const struct meter *m)
{
	return m->lanes ?: 1;
}

#define CACHE_LINE	64
#define LONG_ROW	512	/* bytes */

/*
 * Where rows are long, a line has the end of one CPU's last and the beginning of the next one's
 * first: the last slots of a histogram, and that of packets of no queue. Nobody counts there often.
 */
unsigned meter_stride(const struct meter *m, unsigned rows)
{
	unsigned nr = meter_rows(m, rows) * meter_lanes(m), words = CACHE_LINE / sizeof(uint64_t);

	if (m->type == PACKET_METER)	/* a packet has one place, in the rows of all of them */
		nr = NR_POINTS * rows;
	return m->row_size < LONG_ROW ? (nr + words - 1) / words * words : nr;
}

/*
 * The more CPUs, the fewer keys each has room for. So tables of a count and a key of 20 bytes take
 * about as much memory as a hash of 4096 such keys for all CPUs: 295 KB (the hash: 459 KB) with 2
 * CPUs, 1.2 MB (918 KB) with 16, 2.4 MB (2.5 MB) with 64.
 */
unsigned table_sets(unsigned cpus)
{
	return (cpus <= 4 ? 4096 : cpus <= 16 ? 2048 : 1024) / TABLE_WAYS;
}

unsigned table_stride(unsigned cpus)
{
	return table_sets(cpus) + table_sets(cpus) / TABLE_MARKED;
}

size_t way_row_at(const struct meter *m)
{
	return (m->key.size + sizeof(__u32) + 7) / 8 * 8;
}

size_t way_size(const struct meter *m)
{
	return way_row_at(m) + m->row_size;
}

static bool ends_with(const char *name, const char *unit)
{
	size_t all = strlen(name), end = strlen(unit);

	return all >= end && !strcmp(name + all - end, unit);
}

void metric_key(const struct metric *k, char *key, size_t size)
{
	/* "in_flight" and "lost" count packets, as all in a row; seconds and bytes must be said. */
	if (ends_with(k->name, k->unit) || !strcmp(k->unit, "packets"))
		snprintf(key, size, "%s", k->name);
	else
		snprintf(key, size, "%s_%s", k->name, k->unit);
}

void metric_family(const struct meter *m, const struct metric *k, const char *unit, char *family,
		   size_t size)
{
	char key[64];

	metric_key(k, key, sizeof(key));
	if (k->family)
		snprintf(family, size, "nicprobe_%s", k->family);
	else if (unit)
		snprintf(family, size, "nicprobe_%s_%s", m->name, unit);
	else if (k->kind == KIND_HISTOGRAM || ends_with(k->name, k->unit))
		snprintf(family, size, "nicprobe_%s_%s", m->name, key);
	else
		snprintf(family, size, "nicprobe_%s_%s_%s", m->name, k->name, k->unit);
}
