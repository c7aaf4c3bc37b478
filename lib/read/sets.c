/* SPDX-License-Identifier: GPL-2.0 */
/* Tables of sets, read while programs count in them and give rows to other keys. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>

#include "lib/attach/held.h"
#include "lib/attach/pinned.h"
#include "lib/read/sets.h"

#define TRIES		8	/* a row is being changed for some ns */
#define AT_ONCE		256	/* entries that are copied in a call */
#define COPIES		3

/* Where in a way is what. */
struct way_shape {
	size_t size, turn, row, row_size;
};

static struct way_shape shape_of(const struct meter *m)
{
	return (struct way_shape){ way_size(m), m->key.size, way_row_at(m), m->row_size };
}

bool sets_fit(const struct meter *m, const struct meta *meta, const struct bpf_map_info *i)
{
	return i->value_size == way_size(m) * TABLE_WAYS && i->max_entries &&
	       i->max_entries % table_stride(meta->cpus) == 0;
}

static const __u32 *turn_of(const struct way_shape *w, const void *way)
{
	return (const void *)((const char *)way + w->turn);
}

static bool is_free(const struct way_shape *w, const void *way)
{
	const __u64 *row = (const void *)((const char *)way + w->row);

	return !__atomic_load_n(row, __ATOMIC_RELAXED);
}

/* A way as it was at one moment, or false: what it has is of two keys. */
static bool way_read(const struct way_shape *w, const void *way, __u64 *to)
{
	for (int tries = 0; tries < TRIES; tries++) {
		__u32 turn = __atomic_load_n(turn_of(w, way), __ATOMIC_ACQUIRE);

		for (size_t i = 0; i < w->size / 8; i++)
			to[i] = __atomic_load_n((const __u64 *)way + i, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(turn & 1) && __atomic_load_n(turn_of(w, way), __ATOMIC_RELAXED) == turn)
			return true;
	}
	return false;
}

static int way_add(const struct meter *m, const struct way_shape *w, struct table *t,
		   const void *way)
{
	uint64_t *words = is_free(w, way) ? NULL : table_add(t, m, way);

	if (words)
		memcpy(words, (const char *)way + w->row, w->row_size);
	return words || is_free(w, way) ? 0 : -ENOMEM;
}

/* The sets of a CPU, where they are. */
static int mapped_read(const struct meter *m, const struct way_shape *w, struct table *t,
		       const char *sets, unsigned nr)
{
	__u64 *copy = malloc(w->size);
	int err = copy ? 0 : -ENOMEM;

	for (unsigned i = 0; !err && i < nr * TABLE_WAYS; i++, sets += w->size)
		if (!is_free(w, sets) && way_read(w, sets, copy))
			err = way_add(m, w, t, copy);
	free(copy);
	return err;
}

/* Entries from `from` on. */
static int entries_copy(int fd, __u32 from, __u32 nr, void *to)
{
	__u32 last = from - 1, keys[AT_ONCE], n = nr;

	if (bpf_map_lookup_batch(fd, from ? &last : NULL, &last, keys, to, &n, NULL) &&
	    errno != ENOENT)
		return -errno;
	return n == nr ? 0 : -EIO;
}

/*
 * The same by copies, which have no order in themselves: what the second one has of a row was there
 * between the first and the third.
 */
static int copied_read(const struct meter *m, const struct way_shape *w, struct table *t, int fd,
		       unsigned from, unsigned nr)
{
	size_t all = w->size * TABLE_WAYS * AT_ONCE;
	char *copies = malloc(COPIES * all);
	int err = copies ? 0 : -ENOMEM;

	for (unsigned done = 0; !err && done < nr; done += AT_ONCE) {
		unsigned part = nr - done < AT_ONCE ? nr - done : AT_ONCE;

		for (int i = 0; !err && i < COPIES; i++)
			err = entries_copy(fd, from + done, part, copies + i * all);
		for (unsigned i = 0; !err && i < part * TABLE_WAYS; i++) {
			const char *first = copies + i * w->size;
			__u32 turn = *turn_of(w, first);

			if (!(turn & 1) && turn == *turn_of(w, first + 2 * all))
				err = way_add(m, w, t, first + all);
		}
	}
	free(copies);
	return err;
}

/* Rows of one key, which several CPUs have, become one. */
static void keys_merge(const struct meter *m, struct table *t)
{
	unsigned last = 0;

	table_sort(m, t, table_by_key);
	for (unsigned row = 1; row < t->rows; row++) {
		const unsigned char *key = t->keys + row * m->key.size;
		uint64_t *words = t->cells + (size_t)row * t->words;

		if (memcmp(key, t->keys + last * m->key.size, m->key.size)) {
			last++;
			memmove(t->keys + last * m->key.size, key, m->key.size);
			memmove(t->cells + (size_t)last * t->words, words, t->words * 8);
			continue;
		}
		for (unsigned i = 0; i < t->words; i++)
			t->cells[(size_t)last * t->words + i] += words[i];
	}
	t->rows = t->rows ? last + 1 : 0;
}

int sets_read(const struct meter *m, const struct meta *meta, struct table *t,
	      const struct pinned_map *map)
{
	const struct bpf_map_info *info = &map->info;
	unsigned sets = table_sets(meta->cpus), stride = table_stride(meta->cpus);
	size_t size = (size_t)info->max_entries * info->value_size;
	struct way_shape w = shape_of(m);
	const char *held = map->mappable ? held_map(map->fd, info->id, size) : NULL, *at = held;
	int err = 0;

	t->rows = 0;
	t->cells = malloc(m->row_size);
	t->keys = malloc(m->key.size);
	if (map->mappable && !held)
		at = mmap(NULL, size, PROT_READ, MAP_SHARED, map->fd, 0);
	if (!t->cells || !t->keys)
		err = -ENOMEM;
	else if (at == MAP_FAILED)
		err = -errno;
	for (unsigned from = 0; !err && from < info->max_entries; from += stride)
		err = at ? mapped_read(m, &w, t, at + (size_t)from * info->value_size, sets) :
			   copied_read(m, &w, t, map->fd, from, sets);
	if (!err)
		keys_merge(m, t);
	if (at && at != MAP_FAILED && !held)
		munmap((void *)at, size);
	return err;
}
