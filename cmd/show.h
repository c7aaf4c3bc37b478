/* SPDX-License-Identifier: GPL-2.0 */
/* What `nicprobe show` was asked for; its two halves share it. */
#ifndef NICPROBE_SHOW_H
#define NICPROBE_SHOW_H

#include "cmd/cmd.h"

#define DIR_SIZE 256

struct view {
	const struct renderer *format;
	struct look look;
	bool total;		/* since attach; else of windows */
	bool again;		/* one window after the other */
	double interval;	/* seconds of a window */
	unsigned long count;	/* windows; 0: until interrupted */
	__u64 wanted;		/* 1 << METER_x; 0: all that are on */
	bool hw;		/* what it is made of; without `wanted`, that alone */
	const char *iface;	/* as it was typed; NULL: all */
	unsigned unread;	/* attached, and not to be read */
	unsigned nr;
	char (*dirs)[DIR_SIZE];	/* of pins; where nothing but hw is wanted, interfaces */
};

/* Room in `dirs` for one more, of DIR_SIZE; NULL: no memory. */
char *show_more(struct view *);
/* Prints them as the format does: one after the other, or all at once. */
void show_list(const struct view *, const struct snapshot *const *, unsigned nr);
/* Until the next interval ends: of nominal times, so that they do not drift. */
void show_wait(struct timespec *next, double interval);

/* The number that follows an option, at least so much. False: a complaint was printed. */
bool seconds_parse(const char *option, const char *from, double least, double *to);

/* Of what was typed. Interfaces, or pins; `iface` is NULL for all of them. 0 or -errno. */
int show_interfaces(struct view *, const char *iface);
/* Meters and "hw": 0, or EXIT_USAGE. */
int show_sections(struct view *, char **words);
/* "queue,flow" to 1 << EACH_x. False: a complaint was printed. */
bool show_each(const char *list, unsigned *bits);
/* Those without which OpenMetrics has nothing of these meters. */
unsigned show_named(__u64 wanted);

struct hw;

static inline bool only_hw(const struct view *v)
{
	return v->hw && !v->wanted;
}

/* Of interfaces that need not be attached; again and again with an interval. 0 or -errno. */
int show_hw(const struct view *);
/* Those here behind which there is a device go to `dirs`. */
void show_hw_interfaces(struct view *);
/* Adds it to the snapshot of what is attached. 0 or -errno. */
int show_hw_add(struct snapshot *, struct hw *);

#endif
