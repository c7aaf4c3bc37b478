/* SPDX-License-Identifier: GPL-2.0 */
/* What the numbers of a recording are called, so that a version with other meters reads it, too. */
#ifndef NICPROBE_RECORD_NAMES_H
#define NICPROBE_RECORD_NAMES_H

#include "lib/core/abi.h"
#include "lib/core/meter.h"
#include "record/bytes.h"

/* Sheets of numbers: of the frame itself, and one for each meter. */
enum { SHEET_FRAME, SHEET_METERS, SHEET_LOAD, SHEET_THINNED, OWN_SHEETS };
#define NR_SHEETS	(OWN_SHEETS + NR_METERS)
#define MOST_SHEETS	256	/* in a file */
#define MOST_WORDS	16384	/* in a row */

/* The one row of SHEET_FRAME. */
struct frame_words {
	uint64_t seq;			/* frames of this interface in this run before it */
	uint64_t when, boot_ns, mono_ns;
	uint64_t packets, missed, missed_nobodys, missed_point[NR_POINTS];
};

/* A row of SHEET_METERS: what is known of a meter besides its table. */
struct meter_words {
	uint64_t lost, missed, when, changed;
	uint64_t plan_room, plan_ticks, plan_take, plan_pass;
};

/* Sheets are described as meters; those that are none are in no registry. */
const struct meter *sheet_meter(unsigned sheet);

/* All names of this version. */
void names_put(struct bytes *);

/* A sheet as a file describes it. */
struct sheet_names {
	char name[32];
	const struct meter *own;	/* in this version; NULL: it has no such sheet… */
	char why[96];			/* …for this reason */
	unsigned by, words, moments, key_size, labels;
	unsigned *to;			/* [words]: which word of ours this is; NOWHERE: none */
};
#define NOWHERE	(~0u)

struct names {
	unsigned nr;
	struct sheet_names *list;
};

/* False: they are damaged, or there is no memory; names_free() whatever comes back. */
bool names_take(struct names *, struct reading_of *);
void names_free(struct names *);
/* The sheet of a number of ours; NULL: the file has none. */
const struct sheet_names *names_of(const struct names *, unsigned own_sheet);

#endif
