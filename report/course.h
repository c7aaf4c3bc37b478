/* SPDX-License-Identifier: GPL-2.0 */
/* What a report shows of an interface in a recording: its window, and the course of its figures. */
#ifndef NICPROBE_REPORT_COURSE_H
#define NICPROBE_REPORT_COURSE_H

#include <math.h>

#include "lib/read/snapshot.h"
#include "record/recording.h"

#define SLICES_MOST	240	/* columns of a chart */
#define SLICES_LEAST	20
#define TRACKS_MOST	24	/* keys that have a line of their own in a chart */

/* A column of the charts: the frames from which to which it counts, and when these were. */
struct slice {
	unsigned from, to;
	uint64_t begin, end;		/* ns of CLOCK_REALTIME */
};

/* One line of a chart: a queue, a key, a percentile. */
struct track {
	char label[96];
	int queue;			/* -1: it is not of one */
	unsigned id;			/* of a row, a word or a percentile */
	unsigned char *key;		/* of a row of a meter with keys; else NULL */
	double total;			/* of the whole window: what its columns are of */
	float *mean;			/* by slice; NAN: there is nothing */
	float *peak;			/* the highest frame of each slice; NULL: there is none */
};

/* What its lines are. */
enum chart_of {
	OF_ROWS, OF_LATENCY, OF_PERCENTILES, OF_CLASSES, OF_LABELS, OF_COUNTERS, OF_LEVELS
};

struct chart {
	enum chart_of of;
	int meter, point, metric;	/* -1: no single point, no single metric */
	char title[128];
	char unit[24];			/* of a value: "packets", "seconds" */
	bool rate;			/* it is one per second */
	bool own_unit;			/* of the keys, not of the metric */
	unsigned more;			/* keys that are not shown, as they have less */
	unsigned slices;
	unsigned nr;
	struct track *tracks;
};

/* When a finding was there. */
struct spell {
	const struct finding_kind *kind;
	float harm[SLICES_MOST];	/* NAN: it was not there */
	unsigned frames;		/* slices in which it was there */
};

struct course {
	char name[96];
	unsigned iface;			/* its number in the recording */
	unsigned from, to;		/* its frames */
	struct snapshot window;		/* without tables: names, times, findings */
	double seconds;
	char heading[320];		/* its driver, queues and hooks */
	double received, sent, dropped, cost;	/* per second, and per cent of a CPU; NAN */
	unsigned earlier;		/* frames before the window */
	unsigned nr_slices;
	struct slice *slices;
	unsigned steps;			/* frames of a slice, at most */
	unsigned nr_charts;
	struct chart *charts;
	unsigned nr_spells;
	struct spell *spells;
	char *tables[NR_METERS];	/* as HTML; NULL: it has none */
	char *notes;			/* likewise: what is not seen, lost, absent */
	char sampled[NR_METERS][160];	/* "1 packet in 16"; "": all */
	bool short_of_memory;
};

static inline uint64_t course_begin(const struct course *c)
{
	return c->slices[0].begin;
}

static inline uint64_t course_end(const struct course *c)
{
	return c->slices[c->nr_slices - 1].end;
}

/* All figures of a window: makes charts and tracks (slice -1), or fills in one slice of them. */
void course_sample(struct course *, const struct snapshot *, int slice);
/* The same of one frame in a slice of several: its rates may be the highest. */
void course_step(struct course *, const struct snapshot *, unsigned slice);
/* Leaves out keys and queues that are not worth a line. */
void course_cut(struct course *);
/* Room for all slices. */
void course_slices(struct course *);

/* The chart that shows what a finding rests on; NULL: none does. */
const struct chart *course_proof(const struct course *, const struct finding *);
/* Is it a line of that chart that is meant: of the queue, or high while the finding was there? */
bool course_meant(const struct course *, const struct finding *, const struct track *);
/* When a finding was there. NULL: at no time by itself. */
const struct spell *course_spell(const struct course *, const struct finding *);

/* "in_flight" as words; what the samples of a metric are ("packets"); the title of a chart. */
void name_words(const char *name, char *to, size_t size);
void name_counted(const struct metric *, char *to, size_t size);
void name_chart(struct chart *, const struct metric *);

void course_free(struct course *);

#endif
