/* SPDX-License-Identifier: GPL-2.0 */
/* Draws charts: SVG without scripts, whose cells tell their numbers when pointed at. */
#ifndef NICPROBE_REPORT_DRAW_H
#define NICPROBE_REPORT_DRAW_H

#include <stdio.h>

#include "report/account.h"

#define LEVELS	8		/* colours of a heat map */

/* What the values of one chart, or of two side by side, are drawn to. */
struct scale {
	double least, most;
	bool log;
};

/* What is drawn: a chart of an interface, with the events of its file. */
struct drawing {
	FILE *out;
	const struct file_account *a;
	const struct course *c;
	unsigned *ids;			/* so many elements have an id */
	const struct finding *f;	/* the lines that it is about are marked; NULL: none */
};

#define X_WIDE	10000			/* units of a drawing from its first to its last moment */

struct scale scale_of(const struct chart *a, const struct chart *b);
double scale_place(const struct scale *, double value);		/* 0 to 1 */
unsigned scale_level(const struct scale *, double value);	/* 1 to LEVELS; 0: nothing */

/* "1.23k packets/s", "4.5 us": storage as in text(). */
const char *value_text(const struct chart *, double value);
/* "1.2k, at most 2.1k packets/s": of one slice. */
const char *mean_text(const struct course *, const struct chart *, const struct track *,
		      unsigned slice);
/* "14:03:12", as text() */
const char *clock_text(uint64_t ns);

unsigned x_of(const struct course *, uint64_t ns);
/* The beginning of an image: opens <svg>, with what it is called and shows. `height`: in pixels */
void image_begin(const struct drawing *, const char *title, const char *shows, unsigned rows,
		 unsigned height);
/* Its end: the events, and the axis of time beneath. */
void image_end(const struct drawing *, unsigned rows);

bool is_lines(const struct chart *);
/* A figure with its heading, by what the chart is: heat map or lines. */
void chart_put(const struct drawing *, const struct chart *, const struct scale *);
void heat_put(const struct drawing *, const struct chart *, const struct scale *);
void lines_put(const struct drawing *, const struct chart *, const struct scale *);
/* When the findings were there, a line for each. */
void spells_put(const struct drawing *);
/* Of one finding, beneath a chart (or NULL), to the same axis. */
void spell_put(const struct drawing *, const struct spell *, const struct chart *above);

/* Does a chart show it as a mark? */
bool event_marks(const struct course *, const struct recorded_event *);
/* Is it of this interface, in its window? */
bool event_of(const struct course *, const struct recorded_event *);

#endif
