/* SPDX-License-Identifier: GPL-2.0 */
/* Made-up windows of a host, for findings. */
#ifndef HOST_H
#define HOST_H

#include <stdlib.h>

#include "lib/core/registry.h"
#include "lib/read/snapshot.h"

/* A window of two seconds. */
static inline struct snapshot *window(void)
{
	struct snapshot *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	*s = (struct snapshot){ .interval = true, .seconds = 2, .online = 2 };
	s->meta.host = 1;
	return s;
}

static inline void *row(struct snapshot *s, enum meter_id id, const void *key)
{
	struct table *t = &s->tables[id];
	uint64_t *words;

	if (!t->cells)
		*t = (struct table){ .cpus = 1, .words = meters[id]->row_size / 8 };
	words = table_add(t, meters[id], key);
	if (!words)
		abort();
	return words;
}

static inline void forget(struct snapshot *s)
{
	for (unsigned id = 0; id < NR_METERS; id++) {
		free(s->tables[id].cells);
		free(s->tables[id].keys);
	}
	free(s);
}

#endif
