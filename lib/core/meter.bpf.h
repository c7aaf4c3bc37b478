/* SPDX-License-Identifier: GPL-2.0 */
/* The BPF half of lib/core/meter.h: maps of rows, and how to add to them. */
#ifndef NICPROBE_METER_BPF_H
#define NICPROBE_METER_BPF_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "lib/core/told.bpf.h"

/*
 * How often counting has begun on the interface: a word that all programs share, written when
 * everything is attached (lib/attach/begin.h). A program first checks that a packet or event
 * belongs to the interface, then asks has_begun(). A program that only ends what another has begun
 * need not ask.
 */
volatile struct begun begun SEC(".data.begun");

static __always_inline bool has_begun(void)
{
	return !SELDOM(begun.times, <, from);
}

/* A map; for many of those with 1 entry, attach sets the size. */
#define MAP(map_type, name, key_type, value_type, entries)	\
	struct {						\
		__uint(type, BPF_MAP_TYPE_##map_type);		\
		__uint(max_entries, entries);			\
		__type(key, key_type);				\
		__type(value, value_type);			\
	} name SEC(".maps")

/* An array that begins with a cache line: BPF_F_MMAPABLE aligns it to a page. */
#define ALIGNED_MAP(name, value_type, entries)			\
	struct {						\
		__uint(type, BPF_MAP_TYPE_ARRAY);		\
		__uint(map_flags, BPF_F_MMAPABLE);		\
		__uint(max_entries, entries);			\
		__type(key, __u32);				\
		__type(value, value_type);			\
	} name SEC(".maps")

/*
 * The map `name`, rows of `struct name`: those of CPU 0, those of CPU 1… Attach sets how many, and
 * makes one entry of all: so programs know where the rows are, and call no lookup. User space maps
 * it, as that of a PERCPU_ARRAY cannot be: a reading copies nothing (lib/read/rows.c).
 */
#define METER_MAP(name)		ALIGNED_MAP(name, struct name, 1)

/* The same by key: bounded; a count that finds no room is added to `lost`. */
#define METER_KEYED_MAP(name, size)	MAP(PERCPU_HASH, name, struct name##_key, struct name, size)

/*
 * The same, but a key that was not seen for long makes room for a new one: for
 * a meter with `.evicts`. Every count must also be added to `lost`.
 */
#define METER_RECENT_MAP(name, size)	\
	MAP(LRU_PERCPU_HASH, name, struct name##_key, struct name, size)

/* Counts that found no room in a keyed map: one word per meter. */
MAP(PERCPU_ARRAY, lost, __u32, __u64, NR_METERS);

/*
 * Takes `nr` by value: the address of a member would keep its whole struct on the stack. The key is
 * the first half of a word that is written whole: of one that is written in part the verifier holds
 * what was there before for used, and follows all that comes before once for each value of that.
 * A bound of `nr` that is needed later is to be asked for before: clang uses the word then, too, of
 * which the verifiers up to 6.12 learn nothing by a comparison of its half.
 */
#ifndef __bpf__
#define KEY(nr)	((__u32){ nr })
#elif __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define KEY(nr)	((__u64){ (__u32)(nr) })
#else
#define KEY(nr)	((__u64){ (__u64)(nr) << 32 })
#endif
#define row_at(map, nr)	({						\
	typeof(KEY(nr)) row_key = KEY(nr);				\
	bpf_map_lookup_elem(map, &row_key);				\
})

/* The number that a row of this CPU has among those of all. */
#define own_nr(name, nr)	(TIMES(bpf_get_smp_processor_id(), stride[METER_##name]) + (nr))

/* A row by that number, which is below TOLD(end[METER_name]). */
#ifdef __bpf__
#define row_there(name, at) ({						\
	struct name *rows;						\
	CONSTANT(rows, ROWS_OF(METER_##name));				\
	rows + (at);							\
})
#else
#define row_there(name, at)	row_at(&name, at)
#endif

/*
 * The row of a METER_MAP() that this CPU has under this number; NULL: it has none. It asks for the
 * CPU each time: were that kept from one meter to the next, the verifier would follow more ways
 * through each.
 */
#define own_row(name, nr) ({						\
	__u64 own = own_nr(name, nr);					\
	struct name *row_found = NULL;					\
	if (!SELDOM(own, >=, end[METER_##name])) {			\
		barrier_var(own);	/* it is used as it was compared */	\
		row_found = row_there(name, own);			\
	}								\
	row_found;							\
})

static __always_inline void lost_add(__u32 meter, __u64 count)
{
	__u64 *n = row_at(&lost, meter);

	if (n)
		*n += count;
}

/* The value of `key`; a new one is a copy of `*init`. NULL: there is no room. */
#define lookup_or_init(map, key, init) ({				\
	void *found = bpf_map_lookup_elem(map, key);			\
	if (!found) {							\
		bpf_map_update_elem(map, key, init, BPF_NOEXIST);	\
		found = bpf_map_lookup_elem(map, key);			\
	}								\
	found;								\
})

/* Of a queue that was not in use at attach, or is not known: readers look there if told. */
static __always_inline __u64 far_queue(__u64 queue)
{
	__u64 unknown = TOLD(rows) - 1;

	if (queue >= unknown)
		return unknown;
	if (!begun.far)
		begun.far = 1;
	return queue;
}

static __always_inline __u64 row_of(enum point point, __u32 nr)
{
	__u64 queue = nr;

	if (SELDOM(queue, >=, near))
		queue = far_queue(queue);
	return point ? point * TOLD(rows) + queue : queue;
}

/*
 * From here on the verifier does not know the value of the variable: it checks the code that
 * follows once, and not once for each value it has seen. `length` is below 2^31: its sign changes
 * nothing.
 */
#define FORGET(variable, length) do {					\
	(variable) ^= (__s32)(length) >> 31;				\
	barrier_var(variable);	/* clang may not move it to the use */	\
} while (0)

/* x ? 1 : 0 of 32 bits, without a branch: the verifier would follow both ways to the end. */
#define IS_SET(x) ({							\
	__u64 is_set = -(__u64)(__u32)(x);				\
	barrier_var(is_set);						\
	is_set >> 63;							\
})

#define HIST_ADD(hist, slot_nr, value) ((hist).sum += (value), (hist).slot[slot_nr]++)

/* The slot of a histogram of buffers; most have one packet. */
static __always_inline __u32 segs_slot(__u32 segs)
{
#define B(slot, bound) segs <= bound ? slot :
	return SEGS_BOUNDS(B) SEGS_SLOTS - 1;
#undef B
}

/*
 * The position of the highest set bit of v; v is not 0. Without a branch: the processor would guess
 * half of them wrong, and the verifier would follow all ways to the end.
 */
static __always_inline __u32 log2_of(__u64 v)
{
	__u32 n = 0, step;

	for (int bit = 5; bit > 0; bit--) {
		step = IS_SET(v >> (1 << bit)) << bit;
		v >>= step;
		n |= step;
	}
	return n + (v >> 1);
}

_Static_assert(LOGLIN_STEPS == 1 << 3 && COUNTS_STEPS == 1 << 2, "as the slots are cut below");

/* The slot of a log-linear histogram for a time of `ns`: abi.h describes the slots. */
static __always_inline __u32 loglin_slot(__u64 ns)
{
	__u32 octave, slot;

	if (!(ns >> LOGLIN_MIN))
		return 0;
	if (ns >> LOGLIN_MAX)
		return LOGLIN_SLOTS - 1;
	octave = log2_of(ns);
	slot = 1 + (octave - LOGLIN_MIN) * LOGLIN_STEPS + (ns >> (octave - 3) & (LOGLIN_STEPS - 1));
	barrier_var(slot);	/* the verifier learns from the next line that it is in bounds */
	return slot < LOGLIN_SLOTS ? slot : LOGLIN_SLOTS - 1;
}

/* The slot of a histogram of counts. */
static __always_inline __u32 counts_slot(__u64 n)
{
	__u32 octave, slot = n;

	if (n > 1ull << COUNTS_MAX)
		return COUNTS_SLOTS - 1;
	if (n > 4) {
		octave = log2_of(n - 1);
		slot = 5 + (octave - 2) * COUNTS_STEPS +
		       ((n - 1) >> (octave - 2) & (COUNTS_STEPS - 1));
	}
	barrier_var(slot);
	return slot < COUNTS_SLOTS ? slot : COUNTS_SLOTS - 1;
}
#endif
