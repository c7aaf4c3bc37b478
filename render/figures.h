/* SPDX-License-Identifier: GPL-2.0 */
/* The table columns of a metric: one for each figure derived from it. */
#ifndef NICPROBE_RENDER_FIGURES_H
#define NICPROBE_RENDER_FIGURES_H

#include "render/grid.h"
#include "render/shown.h"

struct figures;

/* One column: formats a figure from the words of one metric. */
struct figure {
	const struct metric *metric;
	void (*text)(const struct figures *, const struct figure *, const uint64_t *words, char *);
	unsigned arg;		/* label or slot */
	double p;		/* percentile */
};
#define FIGURE_SIZE 192		/* of the text: a sparkline has up to 60 slots of 3 bytes */

/* How a distribution is shown, depending on the room. */
enum room { ROOM_PLENTY, ROOM_SOME, ROOM_LITTLE };	/* percentages, close together, bars */

/* All columns of a meter except the row labels. */
struct figures {
	const struct snapshot *s;
	const struct meter *m;
	const struct look *look;
	const uint64_t *all;	/* sum of all rows shown: 0 here means 0 in each */
	enum room room;
	unsigned bars;		/* the column of bars; 0: none */
	struct figure *list;
	unsigned nr;
	double seconds;		/* duration of counting */
};

void figures_columns(struct figures *, struct grid *, const struct meter *);
/* Fill the last line of the grid, from `column` on, with the words of a row. */
void figures_fill(const struct figures *, struct grid *, unsigned column, const uint64_t *row);
/* What a slot of a distribution is called: "≤64", "-127", "-16k", ">64k". */
void figures_class(const struct look *, const struct metric *, unsigned slot, char *name,
		   size_t size);
/* The legend of a distribution's bars; "": this meter has none. */
void figures_legend(const struct meter *, const struct look *, char *legend, size_t size);

#endif
