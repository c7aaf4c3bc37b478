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

/* Entries of a map that is no METER_MAP(), with the config complete; 0: as declared. */
unsigned map_entries(const struct site *, const struct bpf_map *);
/* Has it a pin among those of its interface? */
bool map_is_pinned(const char *name);
/* Enters what follows from `on` and `rows`: strides, ends and the sets of tables. */
void config_complete(struct config *);

#endif
