/* SPDX-License-Identifier: GPL-2.0 */
/* Values over the last minutes, one for each moment that was read. */
#ifndef NICPROBE_TOP_PAST_H
#define NICPROBE_TOP_PAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAST_MOST	300	/* moments that are kept */

/* What a series is of; `of` and `sub` say which. */
enum past_kind {
	PAST_RECEIVED, PAST_SENT,	/* packets/s of the interface */
	PAST_DROPS,			/* packets/s */
	PAST_QUEUE_RECEIVED, PAST_QUEUE_SENT,	/* packets/s; of: the queue */
	PAST_CPU,			/* part of its time for the network; of: the CPU */
	PAST_P50, PAST_P99,		/* seconds; of: the meter, sub: the metric */
};

struct past_line {
	enum past_kind kind;
	unsigned of, sub;
	float values[PAST_MOST];	/* NAN: nothing is known */
};

struct past {
	unsigned long moments;		/* so far */
	unsigned nr;
	struct past_line **lines;
};

/* A new moment: nothing is known of it yet. */
void past_moment(struct past *);
/* One value of the present moment. */
void past_put(struct past *, enum past_kind, unsigned of, unsigned sub, double value);
const struct past_line *past_find(const struct past *, enum past_kind, unsigned of, unsigned sub);
void past_free(struct past *);

/*
 * The last `span` moments in `width` columns: the mean of each, from 0 to the largest. `line` NULL:
 * blanks. Text of at most 3 bytes for each column, so `size` is 3 * width + 1 at least.
 */
void past_spark(const struct past *, const struct past_line *, unsigned width, unsigned span,
		bool utf8, char *text, size_t size);
/* The smallest and largest value of the last `span` moments; false: there is none. */
bool past_range(const struct past *, const struct past_line *, unsigned span, double *least,
		double *most);

/* A bar of `width` columns, filled by this part (0 to 1). */
void past_bar(double part, unsigned width, bool utf8, char *text, size_t size);

#endif
