/* SPDX-License-Identifier: GPL-2.0 */
/* Columns that line up, and that give way where the terminal is too narrow. */
#ifndef NICPROBE_RENDER_GRID_H
#define NICPROBE_RENDER_GRID_H

#include "render/text.h"

struct column {
	char head[48];
	char group[48];		/* stands above neighbours of the same group; "": nothing does */
	bool left;		/* text; numbers stand right */
	bool further;		/* text that goes as a whole before words of others are cut */
	unsigned char drop;	/* too narrow: the highest goes first; 0 stays */
	bool say;		/* if it had to go, say so */
	bool tight;		/* close to the column before it */
	unsigned width;
	bool gone;
};

struct grid_line {
	char **cells;		/* one a column; NULL: empty */
	char *span;		/* stands from column `from` on, across them */
	const char *style;	/* of that */
	unsigned from;
};

struct grid {
	struct column *columns;
	struct grid_line *lines;
	unsigned nr, nr_lines, room;
	bool short_of_memory;
};

/* All columns first, then the lines. A column is good until the next; NULL: no memory. */
struct column *grid_column(struct grid *, unsigned char drop, const char *head);
void grid_line(struct grid *);
void grid_cell(struct grid *, unsigned column, const char *text);	/* in the last line */
void grid_span(struct grid *, unsigned column, const char *text);	/* dim, to the end of it */
void grid_name(struct grid *, const char *text);	/* the last line is a heading */
unsigned grid_width(const struct grid *);	/* that it would need, all told */
/* Columns that a page of this width has no room for, as wide as they are by now: gone. */
void grid_make_way(struct grid *, unsigned width);
void grid_print(struct grid *, struct page *);	/* what does not fit is gone then */
void grid_free(struct grid *);

#endif
