/* SPDX-License-Identifier: GPL-2.0 */
/* A METER_TABLE() as a table: the rows that each CPU has of a key are added. */
#ifndef NICPROBE_READ_SETS_H
#define NICPROBE_READ_SETS_H

#include "lib/read/snapshot.h"

struct bpf_map_info;
struct pinned_map;

/* Is the map of the shape that this version makes? */
bool sets_fit(const struct meter *, const struct meta *, const struct bpf_map_info *);

/* Reads it: where it is, or else by copies. 0 or -errno. */
int sets_read(const struct meter *, const struct meta *, struct table *,
	      const struct pinned_map *);

#endif
