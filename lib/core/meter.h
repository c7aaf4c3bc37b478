/* SPDX-License-Identifier: GPL-2.0 */
/* What a meter is: tables of names and functions, and how to look them up. */
#ifndef NICPROBE_METER_H
#define NICPROBE_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/core/abi.h"
#include "lib/util/list.h"

struct bpf_object;
struct error;
struct iface;
struct meta;
struct request;
struct site;
struct snapshot;
struct table;

enum kind {
	KIND_COUNTER,	/* words that only grow, one per label */
	KIND_HISTOGRAM,	/* a sum, then the slots */
	KIND_LEVEL,	/* a gauge of two words, arrived and left; the difference is shown */
	/*
	 * The signed difference of two counts. Three words: its least and its greatest possible
	 * value, since the two may count differently, and the part of that range that has
	 * accumulated, so that an interval shows only its own growth. See residue_of().
	 */
	KIND_RESIDUE,
	NR_KINDS
};
#define RESIDUE_WORDS	3

/* What one row of the map stands for. The rows of all CPUs are summed unless BY_CPU. */
enum by { BY_IFACE = 0, BY_QUEUE = 1, BY_POINT = 2, BY_CPU = 4, BY_KEY = 8 };

/* One named figure: which words of the row it consists of, and how they are shown. */
struct metric {
	const char *name;		/* "packet_size"; metric_key() makes the JSON key of it */
	const char *unit;		/* "bytes", "seconds", "packets" */
	const char *help;
	const char *family;		/* OpenMetrics, without nicprobe_; NULL: METER_KEY */
	enum kind kind;
	unsigned at, words;		/* offset and length in __u64s */
	bool per_packet;		/* counter: also shown per packet… */
	bool every_packet;		/* …of those in this histogram, at the nic points */
	double scale;			/* from the stored unit to `unit`: 1e-9 for ns */
	const uint64_t *bounds;		/* histogram: inclusive upper bounds; NULL: log-linear */
	unsigned steps;			/* histogram: slots per power of two, shown as percentiles;
					   0: shown slot by slot */
	const char *label;		/* counter of several words: what distinguishes them… */
	const char *const *labels;	/* …and the value of that label for each word */
	const char *group;		/* table: heading above the column; NULL: none */
	bool rare;			/* table: omitted where it is 0 in every row… */
	bool like_first;		/* …or equals the first word of every row */
	bool untold;			/* counter: 0 means "not reported": null, or omitted */
	unsigned of;			/* residue: the word it is a share of; 0: none */
};

/* How a meter gets its rows; each type has its own member in the union of struct meter. */
enum meter_type {
	PACKET_METER,	/* counts in the program of every packet hook: xdp/packet.bpf.h */
	EVENT_METER,	/* follows kernel events: lib/core/event.h, or an object of its own */
	READ_METER,	/* reads what the kernel, driver or card count themselves */
	DERIVED_METER,	/* is computed from the rows of other meters */
};

/* How a table arranges the rows of a keyed meter. */
enum layout {
	LAYOUT_LIST,	/* one line per key */
	LAYOUT_ACROSS,	/* one line per second label, one column per third label */
	LAYOUT_BARE,	/* one line per key, no headings above the labels */
};

/* The key of a BY_KEY meter: how many keys there can be, and how they are shown. */
struct meter_key {
	size_t size;
	const char *const *labels;	/* its parts: "reason", "queue" ("3", "unknown"), NULL */
	void (*text)(const void *key, unsigned nr, char *text, size_t size);	/* part `nr` */
	unsigned per_queue;		/* map entries per queue; 0: as many as the map declares */
	bool evicts;			/* LRU map: `lost` counts everything, so that evicted rows
					   are accounted for */
	bool table;			/* METER_TABLE(): `lost` has what evicted rows had */
	const char *now;		/* label that may change for a key: not in OpenMetrics */
	const char *each;		/* label of unbounded values: in OpenMetrics on request */
	const char *(*unit)(const void *key);	/* where rows differ in unit: "bytes" */
	const char *note;		/* further lines of a key, besides its labels: "stack"… */
	/* …line `nr`; false: there are no more */
	bool (*line)(const void *key, unsigned nr, char *text, size_t size);
	const char *minor;		/* keys that tables fold into one line: "benign"… */
	bool (*is_minor)(const void *key);
	/* A row that others have in their sums: in OpenMetrics with --each remote. NULL: none is */
	bool (*is_part)(const void *key);
	bool sorted;			/* all rows in key order; else the largest first */
};

/*
 * A map that is sized to the interface, or pinned under its name for other objects and commands.
 * Names are unique over all objects: objects that name the same map share it. A map named like a
 * meter has that meter's rows, and needs no plan.
 */
struct map_plan {
	const char *name;
	unsigned (*entries)(const struct config *);	/* NULL, or it returns 0: as declared */
	bool pinned;
};

/* The BPF programs of an EVENT_METER. */
struct meter_events {
	const void *(*elf)(size_t *);	/* an object of its own; NULL: in the shared one, event.h */
	/* Own object: sizes maps, loads, fills them, object_attach(). NULL: attach_links() */
	int (*attach)(const struct site *, struct bpf_object *);
	/* Shared object: sizes maps that no plan sizes; fills them. 0 or -errno. NULL: nothing */
	int (*size)(const struct site *, struct bpf_object *);
	int (*fill)(const struct site *, struct bpf_object *);
	const struct map_plan *maps;	/* ends with an empty one; NULL: none */
	/*
	 * Shared object: it has functions that are not static. Before 6.8 the kernel verifies them
	 * even where nothing calls them, and wants their maps.
	 */
	bool global;
	/* Its programs look at packets of other devices, too; NULL: they do not. */
	bool (*wanders)(const struct config *);
	const char *prefix;		/* a second prefix for its programs and maps, or NULL */
};

/* What a DERIVED_METER is computed from. */
struct meter_derived {
	/*
	 * Adds its rows with table_add(), from a snapshot that has all other meters. `late` has
	 * the tables of those `around`, read once more afterwards. 0 or -errno.
	 */
	int (*derive)(const struct snapshot *, const struct snapshot *late, struct table *);
	uint64_t needs, uses, around;	/* 1 << METER_x: required; optional; read twice */
};

struct meter {
	const char *name;		/* of the file, map, pin, JSON key and CLI word alike */
	const char *help;
	enum meter_type type;
	unsigned by;			/* BY_… */
	enum point point;		/* the only point it looks at, unless BY_POINT */
	unsigned points;		/* BY_POINT: 1 << enum point of those it looks at; 0: all.
					   DERIVED_METER: at least one of these must be hooked */
	unsigned lanes;			/* copies of the rows for contexts that may interrupt each
					   other, summed when read; 0: 1 */
	bool napis;			/* BY_QUEUE: of NAPIs, of which a queue may have two */
	bool host;			/* of the host (lib/net/iface.h), and not of an interface */
	size_t row_size;
	/*
	 * METER_MAP(): of a row in which anything was counted, one of so many first words is not 0.
	 * Most rows are of queues that a CPU never serves: a reader looks at no more of them. 0: it
	 * looks at all words.
	 */
	unsigned lead;
	/*
	 * The first of the words that are moments, two words each, in seconds of CLOCK_MONOTONIC.
	 * The latest moment of all CPUs is taken; an interval has none. 0: there are none.
	 */
	unsigned moments;
	const struct metric *metrics;	/* ends with an empty one */
	struct meter_key key;		/* BY_KEY */
	enum layout layout;		/* BY_KEY */
	union {
		struct meter_events events;
		/*
		 * READ_METER, BY_KEY: adds the present figures with table_add(), called in the
		 * namespace of the interface; their growth since attach is shown. 0 or -errno.
		 */
		int (*read)(const struct meta *, struct table *, struct error *);
		struct meter_derived derived;
	};
	/*
	 * Called after its map was read: may change keys, leave rows out, and set words at the
	 * end of a row that the map does not have (they are 0). 0 or -errno.
	 */
	int (*fixup)(const char *pins, struct table *);
	/*
	 * The row of one CPU, just read at `now` (CLOCK_MONOTONIC): may end what that CPU has not
	 * ended yet. Leaves 0 in the words that belong to no metric.
	 */
	void (*row_close)(uint64_t *words, uint64_t now);
	/*
	 * READ_METER, DERIVED_METER: whether a row that is not in `then` has started from 0 since;
	 * NULL: it has. A queue may have counted before and not have been in use.
	 */
	bool (*began)(const struct table *then, const void *key);
	/* Sets the members of config that only its programs read; NULL: none. */
	void (*configure)(const struct iface *, const struct request *, struct config *);
	unsigned sample;		/* by default, follows one packet in this many; 0: all */
	/*
	 * It asks sampled() which packets to follow: what it takes to follow one, and to pass one
	 * by, at all its events together, in ns where one yard takes YARD_NS. 0: it does not ask.
	 */
	struct thins { unsigned take, pass; } thins;
	const char *on_request;		/* why it is attached only when named; NULL: by default */
	const char *(*cannot)(void);	/* why it can work nowhere on this kernel, or NULL */
	const char *(*absent)(const struct site *);	/* why it cannot work here, or NULL */
	/* Why there is nothing to count as things are: left out unless named. NULL: there is */
	const char *(*idle)(const struct site *);
	/* Which of its methods is in use here, or what it does without; or NULL. */
	const char *(*remark)(const struct site *);
};

#define WORD(T, field)	(offsetof(T, field) / 8)
#define WORDS(T, field)	(sizeof(((T *)0)->field) / 8)
#define COUNTER(T, field, ...)	{ .kind = KIND_COUNTER, .scale = 1, \
	.at = WORD(T, field), .words = WORDS(T, field), __VA_ARGS__ }
#define HISTOGRAM(T, field, ...) { .kind = KIND_HISTOGRAM, \
	.at = WORD(T, field), .words = WORDS(T, field), __VA_ARGS__ }
/* `field` is what arrived; what left must be the next word. */
#define LEVEL(T, field, ...)	{ .kind = KIND_LEVEL, .scale = 1, \
	.at = WORD(T, field), .words = 2, __VA_ARGS__ }

/* .labels of a counter: one for each of its words. */
#define LABELS(T, field, list)	LIST_OF(list, WORDS(T, field))
/* .bounds of a histogram: one for each slot but the last; its first word is the sum. */
#define BOUNDS(T, field, list)	LIST_OF(list, WORDS(T, field) - 2)

/* Whether a histogram is shown slot by slot, and not as percentiles. */
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

/* The meter follows one packet in this many. */
unsigned meter_sample(const struct meter *, const struct meta *);
/* Does it follow as many packets as it may, and not one in a fixed number? */
bool meter_adapts(const struct meter *, const struct meta *);

/* 1 << METER_x of those that a meter is derived from; 0: it is not derived. */
uint64_t meter_needs(const struct meter *);
uint64_t meter_uses(const struct meter *);
/* `bits`, and the meters that those need. */
uint64_t meters_needed(uint64_t bits);
/* 1 << METER_x of those of the host, or of those of an interface. */
uint64_t meters_of(bool host);
/* 1 << METER_x of all that are attached when none is named. */
uint64_t meters_default(void);

/* 1 << enum point of those it looks at. */
unsigned meter_points(const struct meter *);

/* Rows in a lane of its array, if each point has `rows`; not for BY_KEY. */
unsigned meter_rows(const struct meter *, unsigned rows);
unsigned meter_lanes(const struct meter *);
/* Rows that each CPU has in a METER_MAP(): of all lanes, so that no two CPUs share a cache line. */
unsigned meter_stride(const struct meter *, unsigned rows);

/*
 * A METER_TABLE() if so many CPUs are possible: the sets of each, and its entries with their marks.
 */
unsigned table_sets(unsigned cpus);
unsigned table_stride(unsigned cpus);
/* Where the row of a way begins, behind key and turn; the size of a way: a set has TABLE_WAYS. */
size_t way_row_at(const struct meter *);
size_t way_size(const struct meter *);

/* The JSON key: "packet_size_bytes"; the name alone where the unit says nothing more. */
void metric_key(const struct metric *, char *key, size_t size);
/* The OpenMetrics family: "nicprobe_packet_size_bytes"; `unit`: that of the rows, or NULL. */
void metric_family(const struct meter *, const struct metric *, const char *unit, char *family,
		   size_t size);

#endif
