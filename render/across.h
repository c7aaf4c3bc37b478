/* SPDX-License-Identifier: GPL-2.0 */
/* A keyed meter as a matrix: one line per queue, one column per statistic. */
#ifndef NICPROBE_RENDER_ACROSS_H
#define NICPROBE_RENDER_ACROSS_H

#include "render/shown.h"
#include "render/text.h"

/* Print the meter below its heading. False: out of memory. */
bool across(struct page *, const struct snapshot *, const struct meter *);

#endif
