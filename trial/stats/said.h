/* SPDX-License-Identifier: GPL-2.0 */
/* Comparisons as a person reads them, and as a program does. */
#ifndef NICPROBE_TRIAL_SAID_H
#define NICPROBE_TRIAL_SAID_H

#include "render/json_writer.h"
#include "render/text.h"
#include "trial/stats/ab.h"

/* A page on `out`, no narrower than 40 columns. */
struct page said_page(FILE *out, const struct look *);

/* One line a figure, under these names of A and B; what was not measured is listed below. */
void said_table(struct page *, const struct comparison *, unsigned nr, const char *a,
		const char *b);
/* "+4.93%", "-0.12%", "+17.3" (of a figure that has no percent). */
const char *said_difference(const struct comparison *, double difference);

/* The members of an object, that the caller opens and closes. */
void said_json(struct json *, const struct comparison *);

/* What came of two settings: the sentence, the table, how many rounds it took. */
void ab_table(FILE *, const struct look *, const struct ab *);
/* A member "ab" of an object, with all values of all rounds. */
void ab_json(struct json *, const struct ab *);
/* A line on stderr that is written over; for ab_options.progress, its ctx is not used. */
void ab_progress(void *ctx, const struct ab *, int which);
void ab_progress_end(void);

#endif
