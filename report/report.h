/* SPDX-License-Identifier: GPL-2.0 */
/* A recording, or two of them side by side, as one page of HTML. */
#ifndef NICPROBE_REPORT_H
#define NICPROBE_REPORT_H

#include "report/draw.h"
#include "trial/stats/compare.h"

/* An interface in one file, or the same in two. */
struct pair {
	const struct course *c[2];	/* one of them may be NULL */
	unsigned nr;			/* of the pair: ids begin with it */
};

/* What differs between the two of a pair. */
struct differing {
	unsigned nr, few;		/* figures compared; of which so many had too few columns */
	unsigned differ;		/* beyond noise, and by more than the tolerance */
	struct differing_figure {
		struct comparison c;
		const struct chart *h;
		char name[240];
	} *list;			/* all, those that differ first */
};

struct report {
	FILE *out;
	struct file_account files[2];
	unsigned nr_files, nr_pairs, ids;
	struct pair *pairs;
	struct differing *differing;	/* of each pair; NULL: there is one file */
};

/* The page of these files, which account_read() has read. 0 or -ENOMEM. */
int report_write(struct report *);

/* Parts of the page. */
extern const char report_style[];
void report_summary(struct report *, const struct pair *);
void report_findings(struct report *, const struct pair *);
void report_timeline(struct report *, const struct pair *);
/* Has one of them figures of this meter? */
bool meter_reported(const struct pair *, int id);
void report_meters(struct report *, const struct pair *);
void report_compare(struct report *, const struct pair *, const struct differing *);

/* The two of a pair compared, figure by figure. False: no memory. */
bool differing_find(struct differing *, const struct pair *);
void differing_free(struct differing *);

/* Draws of one side of a pair. */
static inline struct drawing drawing_of(struct report *r, const struct pair *p, unsigned side)
{
	return (struct drawing){ .out = r->out, .a = &r->files[side], .c = p->c[side],
				 .ids = &r->ids };
}
/* Begins one side of what stands side by side, with the name of its file; and ends it. */
void side_begin(struct report *, const struct pair *, unsigned side);
void side_end(struct report *);

/* The chart of a course that shows the same; NULL: it has none. */
const struct chart *chart_like(const struct course *, const struct chart *);

#endif
