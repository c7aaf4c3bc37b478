/* SPDX-License-Identifier: GPL-2.0 */
/* A keyed meter with one label across the table: a line a queue, a column a statistic. */
#ifndef NICPROBE_RENDER_ACROSS_H
#define NICPROBE_RENDER_ACROSS_H

#include "render/shown.h"
#include "render/text.h"

/* Prints all of it below its heading. False: there was no memory for it. */
bool across(struct page *, const struct snapshot *, const struct meter *);

#endif
