/* SPDX-License-Identifier: GPL-2.0 */
/* One meter of the table: its rows, their totals, and what is idle. */
#ifndef NICPROBE_RENDER_BLOCK_H
#define NICPROBE_RENDER_BLOCK_H

#include "figures.h"

void block(struct page *, const struct snapshot *, const struct meter *);

#endif
