/* SPDX-License-Identifier: GPL-2.0 */
/* Comparisons as text and as JSON. */
#ifndef NICPROBE_TRIAL_SAID_H
#define NICPROBE_TRIAL_SAID_H

#include "render/json_writer.h"
#include "render/text.h"
#include "trial/stats/ab.h"

/* A page on `out`, at least 40 columns wide. */
struct page said_page(FILE *out, const struct look *);

/* One line per figure, headed by these names of A and B; a list of figures not measured. */
void said_table(struct page *, const struct comparison *, unsigned nr, const char *a,
		const char *b);
/* "+4.93%", "-0.12%", "+17.3" (if a percentage makes no sense). */
const char *said_difference(const struct comparison *, double difference);

/* Adds members to the object, which the caller opens and closes. */
void said_json(struct json *, const struct comparison *);

/* The outcome of a comparison: the sentence, the table, the number of rounds. */
void ab_table(FILE *, const struct look *, const struct ab *);
/* Adds a member "ab", with all values of all rounds. */
void ab_json(struct json *, const struct ab *);
/* A progress line on stderr, for ab_options.progress; ctx is not used. */
void ab_progress(void *ctx, const struct ab *, int which);
void ab_progress_end(void);

#endif
