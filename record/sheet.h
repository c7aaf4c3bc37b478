/* SPDX-License-Identifier: GPL-2.0 */
/* The numbers of one meter from frame to frame: only what changed is in the file. */
#ifndef NICPROBE_RECORD_SHEET_H
#define NICPROBE_RECORD_SHEET_H

#include "lib/core/key.h"
#include "record/bytes.h"

struct sheet {			/* as of the last frame */
	bool here;		/* in that frame */
	unsigned rows, cpus, words;
	uint64_t *cells;	/* [rows][cpus][words] */
	bool *used;		/* [rows]: in a frame it was not 0; of a sheet that is written */
	/* Of a keyed meter: a row for each key since the last full frame. */
	unsigned key_size;
	unsigned char *keys;
	struct key_words **said;	/* when read: what the file says of each */
	unsigned *slots, nr_slots;	/* rows by hash of their key, and 1; 0: free */
};

#define MOST_CELLS	(1u << 24)	/* of one sheet */

void sheet_forget(struct sheet *);
/* Makes it have this shape, of zeros. False: no memory, or it is too large. */
bool sheet_shape(struct sheet *, unsigned rows, unsigned cpus, unsigned words);

/* The row of a key; -1: there is none. */
int sheet_row(const struct sheet *, const void *key);
/* Adds a row of zeros. -1: no memory. */
int sheet_row_add(struct sheet *, const void *key);

/* What `now` has grown, cell by cell; the sheet has `now` after that. */
struct sheet_growth { struct bytes gaps, sizes; unsigned nr; size_t next; };
void growth_row(struct sheet_growth *, struct sheet *, unsigned row, unsigned cpu,
		const uint64_t *now);
/* The same for some words of a row, the first of which is in cell `from`. */
void growth_words(struct sheet_growth *, struct sheet *, size_t from, const uint64_t *now,
		  unsigned words);
void growth_put(struct bytes *, struct sheet_growth *);		/* frees it */
bool growth_take(struct sheet *, struct reading_of *);

/* The words of a key, as the meter has them now. */
void key_words_put(struct bytes *, const struct meter *, const void *key);
/* NULL: damaged, or no memory; free() it. */
struct key_words *key_words_take(struct reading_of *);

#endif
