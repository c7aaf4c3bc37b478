/* SPDX-License-Identifier: GPL-2.0 */
/* One meter of the table: its rows, their totals, and idle queues and points. */
#ifndef NICPROBE_RENDER_BLOCK_H
#define NICPROBE_RENDER_BLOCK_H

#include "render/figures.h"

/* Print the meter. False: it counted nothing, and nothing was printed. */
bool block(struct page *, const struct snapshot *, const struct meter *);

#endif
