/* SPDX-License-Identifier: GPL-2.0 */
/* A table of aligned columns, which drops columns where the terminal is too narrow. */
#ifndef NICPROBE_RENDER_GRID_H
#define NICPROBE_RENDER_GRID_H

#include "render/text.h"

struct column {
	char head[48];
	char group[48];		/* heading above adjacent columns of the same group; "": none */
	bool left;		/* text, left-aligned; numbers are right-aligned */
	bool further;		/* text that is dropped before the words of others are cut */
	unsigned char drop;	/* if too narrow, the highest is dropped first; 0: never */
	bool say;		/* name it in a note if it is dropped */
	bool tight;		/* one space before it instead of two */
	unsigned width;
	bool gone;
};

struct grid_line {
	char **cells;		/* one per column; NULL: empty */
	char *span;		/* text across the columns, starting at `from` */
	const char *style;	/* of the span */
	unsigned from;
};

struct grid {
	struct column *columns;
	struct grid_line *lines;
	unsigned nr, nr_lines;
	bool short_of_memory;
};

/*
 * Add all columns before the first line. The pointer is valid until the next call; NULL: out of
 * memory.
 */
struct column *grid_column(struct grid *, unsigned char drop, const char *head);
void grid_line(struct grid *);
void grid_cell(struct grid *, unsigned column, const char *text);	/* in the last line */
void grid_span(struct grid *, unsigned column, const char *text);	/* dim, across columns */
void grid_name(struct grid *, const char *text);	/* makes the last line a heading */
unsigned grid_width(const struct grid *);	/* without the dropped columns */
/* Drop columns until the grid, at its present column widths, fits a page of this width. */
void grid_make_way(struct grid *, unsigned width);
void grid_print(struct grid *, struct page *);	/* drops columns that do not fit */
void grid_free(struct grid *);

#endif
