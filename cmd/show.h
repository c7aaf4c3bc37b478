/* SPDX-License-Identifier: GPL-2.0 */
/* The request of a `nicprobe show`, shared by its files. */
#ifndef NICPROBE_SHOW_H
#define NICPROBE_SHOW_H

#include "cmd/cmd.h"

#define DIR_SIZE 256

struct view {
	const struct renderer *format;
	struct look look;
	bool total;		/* counts since attach; otherwise of windows */
	bool again;		/* one window after the other */
	double interval;	/* seconds of a window */
	unsigned count;		/* windows; 0: until interrupted */
	__u64 wanted;		/* 1 << METER_x; 0: all that are attached */
	bool hw;		/* show the hw section; without `wanted`, only that */
	const char *iface;	/* as typed; NULL: all */
	struct view_from {
		const char *path;	/* of a recording; NULL: what is attached now */
		const char *at_text, *between_text[2];
		bool events;		/* these, and no figures */
		uint64_t at, begin, end;	/* ns of CLOCK_REALTIME; 0: not given */
	} from;
	struct error *error;	/* where whoever fails writes the reason */
	unsigned unread;	/* number of attachments that cannot be read */
	unsigned nr;
	char (*dirs)[DIR_SIZE];	/* directories of pins; with only_hw(), interface names */
};

/* Add an entry to `dirs` and return it, of DIR_SIZE; NULL: out of memory. */
char *show_more(struct view *);
/* Print them as the format requires: one after the other, or all at once. */
void show_list(const struct view *, const struct snapshot *const *, unsigned nr);
/* Print the line `cost:` of one of them. */
void show_cost(const struct snapshot *);
/* Wait for the end of the next interval, by absolute times, so that they do not drift. */
void show_wait(struct timespec *next, double interval);
/* Show a recording. Returns the exit status. */
int show_from(struct view *);

struct cost;
/*
 * Measure for v->interval what our programs take, and keep the result for `nicprobe show`; `now`
 * become windows. *packets: below 0, they are not counted. 0 or -errno; -EINTR: `wait` was ended.
 */
int cost_measure(const struct view *, struct snapshot *before, struct snapshot *now,
		 bool (*wait)(double seconds), struct cost *, double *packets);

/* Fill `dirs`; `iface` is NULL for all interfaces. 0 or -errno. */
int show_interfaces(struct view *, const char *iface);
/* Parse names of meters and "hw". 0, or EXIT_USAGE after printing an error. */
int show_sections(struct view *, char **words);
/* "queue,flow" to 1 << EACH_x. False after printing an error. */
bool show_each(const char *list, unsigned *bits);
/* The --each labels without which OpenMetrics has no metrics of these meters. */
unsigned show_named(__u64 wanted);

struct error;
struct hw;

static inline bool only_hw(const struct view *v)
{
	return v->hw && !v->wanted;
}

/* Show hw of interfaces, attached or not; repeatedly with -i. 0 or -errno. */
int show_hw(const struct view *);
/* Add the interfaces of this namespace that have a device to `dirs`. */
void show_hw_interfaces(struct view *);
/* Read hw and add it to the snapshot of an attached interface. 0 or -errno. */
int show_hw_add(struct snapshot *, struct hw *, struct error *);

#endif
