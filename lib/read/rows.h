/* SPDX-License-Identifier: GPL-2.0 */
/* One meter's map as a table: CPUs summed, no room taken by rows where nothing happened. */
#ifndef NICPROBE_READ_ROWS_H
#define NICPROBE_READ_ROWS_H

#include "lib/read/snapshot.h"

struct error;

/*
 * Reads the map of a meter that has no .read. 0 or -errno; -EPROTO with an
 * error. What the table has is freed by snapshot_free(), whatever comes back.
 */
struct pinned_map;
int table_read(const struct meter *, const struct meta *, struct table *,
	       const struct pinned_map *, struct error *);

/* Of its parts: adds the words that one CPU has of a row, the first of them or all. */
void cpu_take(struct table *, unsigned row, unsigned cpu, const uint64_t *from, unsigned words);

/* Room that all meters use, one after the other: it is in memory, and in the cache, already. */
void *values_room(size_t size);
#define VALUES_AT_ONCE	(64 << 10)	/* bytes of a map a call: they stay in the cache of a CPU */

#endif
