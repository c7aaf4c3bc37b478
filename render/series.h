/* SPDX-License-Identifier: GPL-2.0 */
/* The rows of a meter as OpenMetrics has them: by labels, summed over those nobody asked for. */
#ifndef NICPROBE_RENDER_SERIES_H
#define NICPROBE_RENDER_SERIES_H

#include "render/shown.h"

/* What may have many values, and so is a label only on request. */
enum each { EACH_QUEUE, EACH_CPU, EACH_INTERRUPT, EACH_FLOW, EACH_SOURCE, EACH_OWN, NR_EACH };
extern const char *const each_names[NR_EACH];

struct series {
	char *labels;		/* ",point=\"rx-nic\",queue=\"0\"" */
	const char *unit;	/* of a meter whose rows have units of their own; else NULL */
	bool whole;		/* it counts what others beside it count by queue */
	uint64_t *words;
};

struct series_list {
	unsigned nr;
	struct series *list;
};

/* `each`: 1 << EACH_x. Nothing where there is no memory: 0 or -ENOMEM; series_free() either way. */
int series_read(struct series_list *, const struct snapshot *, const struct meter *, unsigned each);
void series_free(struct series_list *);

#endif
