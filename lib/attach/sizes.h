/* SPDX-License-Identifier: GPL-2.0 */
/* How many rows each map of an object gets. */
#ifndef NICPROBE_SIZES_H
#define NICPROBE_SIZES_H

#include <stdbool.h>

struct bpf_map;
struct config;
struct meter;
struct site;

#define NAPI_QUEUES	"napi_queue"	/* bpf/common/dev.bpf.h */

/* Entries of a meter's map that is not a hash: where it can be mapped, those of all CPUs. */
unsigned map_rows(const struct meter *, unsigned rows, const struct bpf_map *);
/* The number of entries of a map; 0: as declared. */
unsigned map_entries(const struct site *, const struct bpf_map *);
/* Has it a pin among those of its interface? */
bool map_is_pinned(const char *name);
/* Writes the configuration into its map, .rodata.config, with the strides that its rows make. */
int config_set(const struct config *, struct bpf_map *);

#endif
