/* SPDX-License-Identifier: GPL-2.0 */
/* The maps behind METER_MAP(): made before the programs, which have their addresses built in. */
#ifndef NICPROBE_ROW_MAPS_H
#define NICPROBE_ROW_MAPS_H

#include <stdbool.h>

#include <linux/types.h>

#include "lib/core/abi.h"

struct bpf_map;
struct bpf_object;
struct meter;

/* Of one object. The config: after config_complete(), which says how many rows each has. */
struct row_maps {
	int fd[NR_METERS];	/* -1: there is none */
	__u64 pinned;		/* 1 << METER_x of those that were there already */
};

/*
 * Makes the maps of these meters, 1 << METER_x, or opens those that `pins`, a directory, has: other
 * objects count in them already. Not so those of one row, in which nothing is counted. pins NULL:
 * there are no such. 0 or -errno.
 */
int row_maps_open(struct row_maps *, const struct config *, __u64 which, const char *pins);
/* Programs of the object name them by these descriptors: they stay until it is loaded. */
void row_maps_leave(const struct row_maps *, const struct bpf_object *);

/* Is this a METER_MAP()? */
bool row_map_is(const struct bpf_map *);
/* Puts the map that was made in its place; if none was, it is left out. 0 or -errno. */
int row_map_give(const struct row_maps *, const struct config *, struct bpf_map *);

#endif
