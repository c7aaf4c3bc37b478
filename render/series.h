/* SPDX-License-Identifier: GPL-2.0 */
/* The rows of a meter for OpenMetrics: by labels, summed over labels that were not requested. */
#ifndef NICPROBE_RENDER_SERIES_H
#define NICPROBE_RENDER_SERIES_H

#include "render/shown.h"

/* Labels with many values, written only on request. */
enum each { EACH_QUEUE, EACH_CPU, EACH_INTERRUPT, EACH_FLOW, EACH_SOURCE, EACH_REMOTE, EACH_DOMAIN,
	    EACH_OWN, NR_EACH };
extern const char *const each_names[NR_EACH];

struct series {
	char *labels;		/* ",point=\"rx-nic\",queue=\"0\"" */
	const char *unit;	/* if rows of the meter have different units; otherwise NULL */
	bool whole;		/* for all queues, beside rows by queue of the same packets */
	uint64_t *words;
};

struct series_list {
	unsigned nr;
	struct series *list;
};

/* `each`: 1 << EACH_x. 0 or -ENOMEM; call series_free() in either case. */
int series_read(struct series_list *, const struct snapshot *, const struct meter *, unsigned each);
void series_free(struct series_list *);

#endif
