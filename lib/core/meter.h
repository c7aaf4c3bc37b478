/* SPDX-License-Identifier: GPL-2.0 */
/* What a meter is. Tables only: nothing here does anything. */
#ifndef NICPROBE_METER_H
#define NICPROBE_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/core/abi.h"

struct bpf_object;
struct meta;
struct site;
struct snapshot;
struct table;

enum kind {
	KIND_COUNTER,	/* words that grow, one for each label */
	KIND_HISTOGRAM,	/* a sum, then slots */
	KIND_LEVEL,	/* two words, what came and what went; shown: the difference, now */
	/*
	 * What one count has more than another, signed, for each way in which the other may count:
	 * the least and the most it can be, and how much of what lies between was added up over
	 * time, so that a window has only what it grew by. residue_of() says what is shown.
	 */
	KIND_RESIDUE,
};
#define RESIDUE_WORDS	3

/* What one row of the map stands for; CPUs are summed unless BY_CPU. */
enum by { BY_IFACE = 0, BY_QUEUE = 1, BY_POINT = 2, BY_CPU = 4, BY_KEY = 8 };

/* One named figure: where its words lie in the row, and how to read them. */
struct metric {
	const char *name;		/* "packet_size": metric_key() makes the JSON key of it */
	const char *unit;		/* "bytes", "seconds", "packets" */
	const char *help;
	const char *family;		/* OpenMetrics, without nicprobe_; NULL: METER_KEY */
	enum kind kind;
	unsigned at, words;		/* offset and length in __u64s */
	bool per_packet;		/* counter: of interest for a packet, too */
	double scale;			/* stored unit to `unit`: 1e-9 for ns */
	const uint64_t *bounds;		/* histogram: inclusive upper bounds; NULL: log-linear */
	/* …of so many slots to a power of two that it is shown by percentiles; 0: by its slots */
	unsigned steps;
	const char *label;		/* counter of several words: what tells them apart… */
	const char *const *labels;	/* …and what each is called */
	const char *group;		/* what the table writes above its column; NULL: nothing */
	bool rare;			/* the table leaves it out where it is 0 everywhere… */
	bool like_first;		/* …or as much as the first word of each row */
	bool untold;			/* counter: 0 is that nobody counts: null, or not there */
	unsigned of;			/* residue: of the count in this word; 0: of none */
};

struct meter {
	const char *name;		/* file, map, pin, JSON key and CLI word alike */
	const char *help;
	unsigned by;			/* BY_… */
	enum point point;		/* the only point it looks at, unless BY_POINT */
	/* BY_POINT: 1 << enum point, those it looks at; 0: all. If derived: one must be seen. */
	unsigned points;
	/* sets of rows that contexts write apart; 0: 1. Summed at reading */
	unsigned lanes;
	size_t row_size;
	/*
	 * Words of a row from this one on are two moments each, seconds of CLOCK_MONOTONIC: of
	 * all CPUs the latest is taken, and a window has none. 0: it has no such words.
	 */
	unsigned moments;
	const struct metric *metrics;	/* ends with an empty one */

	size_t key_size;		/* BY_KEY: size of a key… */
	unsigned keys_per_queue;	/* …for how many there is room; 0: its map says so */
	/* …what it is made of: "reason", "queue" (a number or "unknown"), NULL… */
	const char *const *key_labels;
	/* …which of these changes while its key stays, and so is no label of OpenMetrics… */
	const char *key_now;
	/* …and what of it has values without end: OpenMetrics has it only where asked for… */
	const char *each;
	/* …in what each of its rows counts, where that differs: "bytes"… */
	const char *(*key_unit)(const void *key);
	/* …its rows make room for new ones, and `lost` has all that its first words ever had… */
	bool evicts;
	/* …and how the part `nr` of a key reads */
	void (*key_text)(const void *key, unsigned nr, char *text, size_t size);
	/* More of a key than labels hold: what it is, "stack", and line `nr`; false: the end. */
	const char *key_note;
	bool (*key_line)(const void *key, unsigned nr, char *text, size_t size);
	/* Keys that a table folds into one line, and what they are: "benign". */
	const char *key_minor;
	bool (*key_is_minor)(const void *key);
	/*
	 * After its map was read: keys may be changed, rows left out; words at the end of a row
	 * that the map has not are 0, and may be set. 0 or -errno.
	 */
	int (*settle)(const char *pins, struct table *);
	bool by_key;			/* all rows, by key; else those with most, first */
	/* The table: a column for each value of the third label, a line for each of the second. */
	bool across;
	bool bare;			/* …and writes nothing above its labels */

	/* One of these, or none: then it rides on the packet hooks. */
	const void *(*elf)(size_t *);	/* its own BPF object */
	/* Sizes its maps, object_load(), fills them, object_attach(). NULL: attach_links() does */
	int (*attach)(const struct site *, struct bpf_object *);
	/*
	 * Figures that the kernel keeps by itself, BY_KEY, as they are now, by table_add(). What
	 * they have grown since attach is shown. Called in the namespace of the interface.
	 * 0 or -errno and a complaint.
	 */
	int (*read)(const struct meta *, struct table *);
	/*
	 * It is made of what others counted, BY_KEY, as it is in a snapshot that has all others
	 * whole, by table_add(). `late` has the tables of those `around`, read once more.
	 * 0 or -errno.
	 */
	int (*derive)(const struct snapshot *, const struct snapshot *late, struct table *);
	/*
	 * Of one of these: whether what a row counts, that `then` has not, began at 0 since then;
	 * NULL: it did. A queue may have been there before, and have counted, and was not in use.
	 */
	bool (*began)(const struct table *then, const void *key);
	uint64_t needs, uses, around;	/* 1 << METER_x: must be on; may be; read twice */
	const char *(*absent)(const struct site *);	/* why it cannot work here, or NULL */
	const char *(*cannot)(void);	/* why it can work nowhere in this kernel, or NULL */
	unsigned sample;		/* it follows one packet in so many, unless told; 0: each */
	const char *on_request;		/* why it is not attached unless asked for; NULL: it is */
	/* How it measures here where there are several ways, or what it does without; or NULL. */
	const char *(*remark)(const struct site *);
	/*
	 * A row as one CPU has it, just read: `now` (CLOCK_MONOTONIC, before the reading) may
	 * end what the CPU has not ended yet. Leaves 0 in the words that no metric has.
	 */
	void (*row_close)(uint64_t *words, uint64_t now);
};

#define WORD(T, field)	(offsetof(T, field) / 8)
#define WORDS(T, field)	(sizeof(((T *)0)->field) / 8)
#define COUNTER(T, field, ...)	{ .kind = KIND_COUNTER, .scale = 1, \
	.at = WORD(T, field), .words = WORDS(T, field), __VA_ARGS__ }
#define HISTOGRAM(T, field, ...) { .kind = KIND_HISTOGRAM, \
	.at = WORD(T, field), .words = WORDS(T, field), __VA_ARGS__ }
/* `field` is what came; what went must be the next word. */
#define LEVEL(T, field, ...)	{ .kind = KIND_LEVEL, .scale = 1, \
	.at = WORD(T, field), .words = 2, __VA_ARGS__ }

/* Is a histogram shown by its slots, and not by percentiles? */
static inline bool metric_classes(const struct metric *k)
{
	return k->bounds && !k->steps;
}

#define for_each_metric(k, m) for (const struct metric *k = (m)->metrics; k->name; k++)

#define M(name) extern const struct meter meter_##name;
METERS(M)
#undef M
extern const struct meter *const meters[NR_METERS];
extern const char *const point_names[NR_POINTS];	/* "rx-nic", … */

const struct meter *meter_find(const char *name);	/* NULL: no such meter */
enum meter_id meter_id(const struct meter *);

/* Of how many packets it follows one. */
unsigned meter_sample(const struct meter *, const struct meta *);

/* These, and what some of them are made of. */
uint64_t meters_needed(uint64_t bits);
/* Does it count in the packet hooks, and has no object of its own? */
bool meter_rides(const struct meter *);
/* 1 << METER_x of all that are attached when none is named. */
uint64_t meters_default(void);

/* 1 << enum point: those it looks at. */
unsigned meter_points(const struct meter *);

/* Rows of a lane of its array, when a point has `rows` of them; not for BY_KEY. */
unsigned meter_rows(const struct meter *, unsigned rows);
unsigned meter_lanes(const struct meter *);

/* The JSON key: "packet_size_bytes"; the name alone where the unit says nothing more. */
void metric_key(const struct metric *, char *key, size_t size);
/* The OpenMetrics family: "nicprobe_packet_size_bytes"; of the rows with this `unit`, or NULL. */
void metric_family(const struct meter *, const struct metric *, const char *unit, char *family,
		   size_t size);

#endif
