/* SPDX-License-Identifier: GPL-2.0 */
/* A summary of a meter: its sums in a line or two, without queues. */
#ifndef NICPROBE_RENDER_GLANCE_H
#define NICPROBE_RENDER_GLANCE_H

#include "render/shown.h"
#include "render/text.h"

/* Print the summary. False: it counted nothing, and nothing was printed. */
bool glance(struct page *, const struct snapshot *, const struct meter *);

#endif
