/* SPDX-License-Identifier: GPL-2.0 */
/* All figures of one interface at one moment, as plain arrays; or the difference of two moments. */
#ifndef NICPROBE_SNAPSHOT_H
#define NICPROBE_SNAPSHOT_H

#include <stdbool.h>
#include <time.h>

#include "lib/core/meta.h"
#include "lib/core/meter.h"
#include "lib/core/pace.h"
#include "lib/proc/load.h"
#include "lib/read/findings.h"

struct table {				/* one meter */
	unsigned rows, cpus, words;	/* cpus is 1 once summed */
	unsigned moments;		/* as the meter's */
	uint64_t *cells;		/* [rows][cpus][words]; NULL: this meter is off */
	/* which of these a row has; 0, zeros: nothing ever happened there. NULL: each its own */
	unsigned *at;
	unsigned held;			/* rows in cells, where they are not `rows` */
	unsigned char *keys;		/* BY_KEY: [rows][key_size], most first; else NULL */
	uint64_t when;			/* CLOCK_BOOTTIME ns, when it was read */
	double seconds;			/* measured: since attach, or since it was read before */
	bool changed;			/* .read: rows that were there have gone, or are left out */
};

/* Puts the rows of a keyed table in this order; NULL: that in which they are shown. */
typedef int table_order(const void *, const void *, void *);
void table_sort(const struct meter *, struct table *, table_order *);
table_order table_by_key;
/* The numbers of its rows in this order; to be freed. NULL: no memory. */
unsigned *table_ranks(const struct meter *, const struct table *, table_order *);

/* Of two words of moments the later ones. */
uint64_t moments_later(uint64_t a, uint64_t b);

/* Adds a row to a keyed table that is summed: its words, all 0; NULL: no memory. */
uint64_t *table_add(struct table *, const struct meter *, const void *key);

struct error;
struct hw;
struct thinned;

struct link {
	bool known;
	bool up;			/* and it has a carrier */
	unsigned long mbit;		/* 0: nobody tells */
};

struct snapshot {
	struct meta meta;
	char name[96];			/* as a user would type it: "eth0", "blue/eth0" */
	char state[320];		/* what became of it: "renamed to eth1"; "": nothing */
	bool gone;			/* the interface is no more */
	char now[96];			/* where it is now, so typed; "": where it was attached */
	char blind[NR_POINTS][BLIND_SIZE];	/* why a point does not see all; "": it does */
	struct link link;		/* now */
	struct timespec when;		/* CLOCK_REALTIME */
	uint64_t boot_ns;		/* CLOCK_BOOTTIME */
	uint64_t mono_ns;		/* CLOCK_MONOTONIC */
	double seconds;			/* measured: since attach, or since the snapshot before */
	bool interval;			/* a difference of two, not totals since attach */
	bool counts;			/* …of which a person wants the counts, not rates */
	unsigned online;		/* CPUs that can take work now */
	uint64_t wanted;		/* 1 << METER_x: those to show */
	uint64_t packets;		/* that came and went; 0: see snapshot_packets() */
	uint64_t missed;		/* events our own programs missed (nested in themselves)… */
	uint64_t missed_nobodys;	/* …of which nothing is known but that… */
	/* …and by who wants these events: their figures may be short by so many */
	uint64_t missed_meter[NR_METERS], missed_point[NR_POINTS];
	bool missed_hidden;		/* …of which only root can be told */
	uint64_t lost[NR_METERS];	/* counts that found no room, by meter */
	struct table tables[NR_METERS];
	struct thinned *thinned;	/* [NR_METERS][meta.cpus], of those that pass packets by */
	struct pace_plan plan[NR_METERS];	/* of those that adapt to a budget */
	__u8 shift[NR_METERS];		/* of those that adapt: the greatest that a CPU has now */
	struct cpu_load load;		/* of the CPUs; of an interval alone */
	/* Do the pins belong to the interface that has its index now? Asked once. */
	enum { UNASKED, OF_THIS, OF_ANOTHER } pins_are;
	const struct hw *hw;		/* what it is made of, not ours; NULL: nobody asked */
	struct findings findings;	/* last: most of it is empty, and is not copied */
};

/* Over how long these were counted: each meter is read at its own time. */
static inline double table_seconds(const struct snapshot *s, const struct meter *m)
{
	double seconds = s->tables[meter_id(m)].seconds;

	return seconds > 0 ? seconds : s->seconds;
}

struct place {
	enum point point;
	int queue;			/* -1: queue unknown */
};
struct place place_of(const struct snapshot *, const struct meter *, unsigned row);

/* All words of one cell. */
static inline uint64_t *row_words(const struct table *t, unsigned row, unsigned cpu)
{
	size_t at = t->at ? t->at[row] : row;

	return t->cells + (at * t->cpus + cpu) * t->words;
}

/* The words of one metric in one cell. */
static inline const uint64_t *cell(const struct table *t, unsigned row, unsigned cpu,
				   const struct metric *k)
{
	return row_words(t, row, cpu) + k->at;
}

/* Has nothing at all happened there? Such rows are folded. */
bool cell_idle(const struct table *, unsigned row, unsigned cpu);

unsigned hist_slots(const struct metric *);
uint64_t hist_count(const struct metric *, const uint64_t *words);
/* inclusive, in the unit; INFINITY: last */
double hist_bound(const struct metric *, unsigned slot);
double hist_floor(const struct metric *, unsigned slot);	/* what the slot begins after */
double hist_percentile(const struct metric *, const uint64_t *words, double p);	/* NAN: empty */
double hist_max(const struct metric *, const uint64_t *words);	/* bound of the highest slot used */

/*
 * 0 or -errno; snapshot_free() whatever comes back. The figures of a meter with
 * .read are read in the namespace of the interface, and the process stays there.
 */
int snapshot_read(struct snapshot *, const char *pins, struct error *);
/* Its two halves: what others than derived meters have, where .meta is known; and one of them. */
int snapshot_fill(struct snapshot *, const char *pins, struct error *);
int snapshot_table(struct snapshot *, int id, const char *pins, struct error *);
void snapshot_free(struct snapshot *);
int snapshot_copy(struct snapshot *to, const struct snapshot *);	/* 0 or -ENOMEM */
/* `to`, which is freed, becomes what `from` was; that is empty then. */
void snapshot_move(struct snapshot *to, struct snapshot *from);

/* `now` becomes the difference to `before`; levels stay as they are now. */
void snapshot_diff(struct snapshot *now, const struct snapshot *before);
/* The same in `to`, while `now` stays. 0 or -ENOMEM. */
int snapshot_since(struct snapshot *to, const struct snapshot *now, const struct snapshot *before);

/*
 * Packets received and sent by all that the driver serves: what its calls are for. 0: not known,
 * unless that was told, or pktsize counts all of its one device.
 */
uint64_t snapshot_packets(const struct snapshot *);

#endif
