/* SPDX-License-Identifier: GPL-2.0 */
/* One meter of the table: its rows, their totals, and what is idle. */
#ifndef NICPROBE_RENDER_BLOCK_H
#define NICPROBE_RENDER_BLOCK_H

#include "render/figures.h"

/* False: there is nothing to show of it, and nothing was printed. */
bool block(struct page *, const struct snapshot *, const struct meter *);

#endif
