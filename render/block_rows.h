/* SPDX-License-Identifier: GPL-2.0 */
/* The rows of a block under construction: what block.c and block_keys.c share. */
#ifndef NICPROBE_BLOCK_ROWS_H
#define NICPROBE_BLOCK_ROWS_H

#include "render/figures.h"

/* One line of the block. */
struct entry {
	unsigned row, cpu;
	struct place at;
};

struct block {
	const struct snapshot *s;
	const struct meter *m;
	const struct table *t;
	struct entry *active;
	unsigned nr;
	uint64_t *all, *total;		/* sum of all active rows; sum of one point's rows */
	bool headings;			/* points are heading lines, not a column */
	unsigned columns;		/* number of label columns */
	unsigned width;			/* of the page */
	struct figures figures;
	struct grid grid;
};

static inline const uint64_t *words_of(const struct table *t, const struct entry *e)
{
	return row_words(t, e->row, e->cpu);
}

/* Adds a label column; NULL: no memory. */
struct column *block_label(struct block *, const char *head);
/* Sums these rows in b->total. */
void block_sum(struct block *, const struct entry *, unsigned nr);
/* The lines of one point, or of a meter without points. */
void block_lines(struct block *, enum point, const struct entry *, unsigned nr);

/* block_keys.c: the rows of a BY_KEY meter. */
void keys_columns(struct block *);
/* Part `nr` of a key; queues as in other meters: "q1", "q?". */
void keys_label(const struct block *, const struct entry *, unsigned nr, char *label, size_t size);
/* The note beneath a key, such as a stack, indented. */
void keys_notes(struct block *, const struct entry *);
void keys_lines(struct block *);

#endif
