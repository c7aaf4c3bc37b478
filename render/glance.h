/* SPDX-License-Identifier: GPL-2.0 */
/* A summary of a meter: its sums in a line or two, without queues. */
#ifndef NICPROBE_RENDER_GLANCE_H
#define NICPROBE_RENDER_GLANCE_H

#include "render/shown.h"
#include "render/text.h"

/* Print the summary. False: it counted nothing, and nothing was printed. */
bool glance(struct page *, const struct snapshot *, const struct meter *);

/* The figures of these words of a meter, as a sentence; "": there is nothing to say. */
void glance_words(const struct look *, const struct snapshot *, const struct meter *,
		  const uint64_t *words, char *out, size_t size);

/* The known queue with the most of rows `from` to `to`, and how much that is; queue -1: none. */
struct busiest {
	int queue;
	uint64_t most;
};
struct busiest busiest_queue_of(const struct snapshot *, const struct meter *, unsigned from,
				unsigned to);

#endif
