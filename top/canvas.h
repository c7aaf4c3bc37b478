/* SPDX-License-Identifier: GPL-2.0 */
/* A screen as a grid of cells, which no terminal is needed for. */
#ifndef NICPROBE_TOP_CANVAS_H
#define NICPROBE_TOP_CANVAS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* How a cell looks: bits. */
enum {
	CELL_BOLD = 1, CELL_DIM = 2, CELL_REVERSE = 4,
	CELL_RED = 8, CELL_YELLOW = 16, CELL_GREEN = 32, CELL_CYAN = 64,
};

struct canvas_cell {
	uint32_t c;		/* a code point; 0: the right half of the one before it */
	unsigned style;
};

struct canvas {
	unsigned width, height;
	struct canvas_cell *cells;	/* [height][width] */
};

/* Blank, of that size. False: out of memory; the size is then 0. */
bool canvas_make(struct canvas *, unsigned width, unsigned height);
void canvas_free(struct canvas *);

/*
 * Puts a text, which may change its style by "ESC [ n m" as struct page writes it; all of it also
 * has `style`. Cut at the right edge. Returns the column behind it.
 */
unsigned canvas_put(struct canvas *, unsigned x, unsigned y, const char *text, unsigned style);
/* Adds a style to a whole line. */
void canvas_line(struct canvas *, unsigned y, unsigned style);

/* As plain text, without blanks at the ends of lines; `styles`: marks what is selected. */
void canvas_print(const struct canvas *, FILE *);

#endif
