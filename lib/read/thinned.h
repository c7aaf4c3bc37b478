/* SPDX-License-Identifier: GPL-2.0 */
/* How many packets a meter that follows single packets has followed, and how many it passed by. */
#ifndef NICPROBE_THINNED_H
#define NICPROBE_THINNED_H

#include "lib/read/snapshot.h"

/* Of one meter on one CPU, or on all of them. */
struct thinned {
	uint64_t taken, passed, paused;		/* as in struct pace */
};

/* Reads them for the meters that may pass packets by; after the tables of those meters. */
void thinned_read(struct snapshot *, const char *pins);

/* `now` becomes the difference to `before`. */
void thinned_diff(struct snapshot *now, const struct snapshot *before);

/* May this meter pass packets by, and counts which? */
bool meter_thins(const struct snapshot *, int id);

/* Do the rows of this meter have every packet? */
bool meter_has_all(const struct snapshot *, int id);

/* All CPUs together; zeros if meter_thins() is false. */
struct thinned thinned_of(const struct snapshot *, int id);

/*
 * 1 in how many packets the rows of this meter have: 1 if they have every packet, else the mean.
 * INFINITY: it has passed all by.
 */
double meter_one_in(const struct snapshot *, int id);

/*
 * How many packets a followed one may stand for, at most: with the N of now, which stays where no
 * more packets come. 1: all were followed.
 */
unsigned meter_stands_for(const struct snapshot *, int id);

/*
 * What following and passing by took, as the budget reckons it: part of the time of that CPU where
 * it took most, by all meters that adapt together.
 */
double thinned_share(const struct snapshot *);

/* Is that within the budget, or not much more? */
bool thinned_holds(const struct snapshot *);

#endif
