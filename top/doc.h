/* SPDX-License-Identifier: GPL-2.0 */
/* What a view says, as lines of text of any number; some of them can be selected. */
#ifndef NICPROBE_TOP_DOC_H
#define NICPROBE_TOP_DOC_H

#include "render/grid.h"
#include "render/text.h"

#define DOC_NOTHING	(-1)	/* the target of a line that cannot be selected */
#define DOC_COLUMNS	32

struct doc_line {
	const char *text;	/* with changes of style, as struct page writes them */
	int target;		/* what it stands for, in the view's own numbers */
	unsigned style;		/* CELL_ bits for all of it */
	bool section;		/* a section begins here */
};

struct doc {
	struct page page;	/* write to this; */
	struct doc_line *lines;	/* then, after doc_end(): */
	unsigned nr;
	unsigned fixed;		/* so many lines at the top stay when the others scroll */
	/* the columns of a table that can be sorted: where each begins and ends; none: 0, 0 */
	unsigned heads;		/* the line of their headings */
	struct { unsigned from, to; } columns[DOC_COLUMNS];
	unsigned nr_columns;
	char *text;
	size_t size, counted;
	unsigned begun;		/* lines that are complete */
	bool short_of_memory;
};

/* The look must stay as long as the doc. */
void doc_begin(struct doc *, const struct look *, unsigned width);
/* How many lines are there? */
unsigned doc_lines(struct doc *);
/* Line `nr` stands for this; all of it has that style. */
void doc_target(struct doc *, unsigned nr, int target, unsigned style);
/* The next line begins a section. */
void doc_section(struct doc *, const char *name, const char *what);
/* Prints a table, whose rows stand for these. `sortable`: remember where its columns are. */
void doc_grid(struct doc *, struct grid *, const int *targets, const unsigned *styles,
	      bool sortable);
void doc_end(struct doc *);
void doc_free(struct doc *);

#endif
