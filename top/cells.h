/* SPDX-License-Identifier: GPL-2.0 */
/* Texts of single values, as the cells of tables have them. */
#ifndef NICPROBE_TOP_CELLS_H
#define NICPROBE_TOP_CELLS_H

#include "top/ui.h"
#include "top/values.h"

#define SPAN	180	/* moments that sparklines show: the last minutes */

/* "12.35k", "-" where nothing is known: storage as in text(). */
const char *cell_count(double);
const char *cell_seconds(double);
const char *cell_share(double part);	/* "34%" */
const char *cell_percent(double);	/* "0.42%" */
/* A sparkline of this line of the past; static storage. */
const char *cell_spark(const struct ui *, const struct top_iface *, enum past_kind, unsigned of,
		       unsigned sub, unsigned width);
const char *cell_bar(const struct ui *, double part, unsigned width);
/* "2 warning", "not attached": what is found on it, and the style of its line. */
const char *found_text(const struct top_iface *, const struct found *);
unsigned found_style(const struct top_iface *, const struct found *);
/* "last 3 min": what a sparkline of SPAN moments shows. */
const char *span_text(const struct ui *);

/* A column of a table, and when it leaves where there is no room: the highest first, 0 never. */
struct head {
	const char *head, *group;
	unsigned char drop;
	bool left;
};
/* Adds these columns. */
void heads_add(struct grid *, const struct head *, unsigned nr);

/* Rows of a table that can be sorted, before they are in order. */
struct row_order {
	int target;
	const char *name;		/* by which the first column is sorted */
	const double *keys;		/* by column */
	unsigned nr;			/* its place before */
};
/* Sorts as the user chose: large ones first, names from A; `-` comes last. */
void rows_sort(struct row_order *, unsigned nr, const struct ui_sort *);
/* Marks the heading that is chosen, and that by which the table is sorted. */
void heads_mark(const struct ui_sort *, struct grid *, const struct look *);

#endif
