/* SPDX-License-Identifier: GPL-2.0 */
/* Parts of the format table that other pages have, too. */
#ifndef NICPROBE_RENDER_TABLE_H
#define NICPROBE_RENDER_TABLE_H

#include "render/shown.h"
#include "render/text.h"

/* The interface, its driver and queues, the window, and what became of it. */
void table_heading(struct page *, const struct snapshot *);
/* Warnings about points that do not see all packets. */
void table_blind(struct page *, const struct snapshot *);
/* Counts that found no room, and events that were missed. */
void table_losses(struct page *, const struct snapshot *);

#endif
