/* SPDX-License-Identifier: GPL-2.0 */
/* What the table shows of a metric: a column for each figure that can be made of it. */
#ifndef NICPROBE_RENDER_FIGURES_H
#define NICPROBE_RENDER_FIGURES_H

#include "render/grid.h"
#include "render/shown.h"

struct figures;

/* One column: the text of it, of the words of one metric. */
struct figure {
	const struct metric *metric;
	void (*text)(const struct figures *, const struct figure *, const uint64_t *words, char *);
	unsigned arg;		/* label or slot */
	double p;		/* percentile */
};
#define FIGURE_SIZE 192		/* of the text: no sparkline has more than 60 slots of 3 bytes */

/* How a distribution is shown: as there is room. */
enum room { ROOM_PLENTY, ROOM_SOME, ROOM_LITTLE };	/* percentages, close together, bars */

/* All columns of a meter that are not labels of the row. */
struct figures {
	const struct snapshot *s;
	const struct meter *m;
	const struct look *look;
	const uint64_t *all;	/* sum of all rows shown: 0 there is 0 everywhere */
	enum room room;
	unsigned bars;		/* its column, where there are bars; else 0 */
	struct figure *list;
	unsigned nr;
	double seconds;		/* over which it was counted */
};

void figures_columns(struct figures *, struct grid *, const struct meter *);
/* Fill the last line of the grid, from `column` on, from the words of a whole row. */
void figures_fill(const struct figures *, struct grid *, unsigned column, const uint64_t *row);
/* What the bars of a distribution stand for; "": this meter has none. */
void figures_legend(const struct meter *, const struct look *, char *legend, size_t size);

#endif
