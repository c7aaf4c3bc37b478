/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Has a directory changed since? It has another time once an entry comes, goes or is renamed, and
 * another one once it has another owner or mode.
 */
#ifndef NICPROBE_DIR_TIME_H
#define NICPROBE_DIR_TIME_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * Times of files are those of the last tick: two changes within one look like one. What is younger
 * than this is not to be remembered.
 */
#define SETTLED_NS	1000000000ull

static inline bool time_same(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static inline bool dir_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       time_same(a->st_mtim, b->st_mtim) && time_same(a->st_ctim, b->st_ctim);
}

/* `now`: of CLOCK_REALTIME, ns. */
static inline bool dir_settled(const struct stat *st, uint64_t now)
{
	uint64_t changed = st->st_mtim.tv_sec * 1000000000ull + st->st_mtim.tv_nsec;

	return changed < now && now - changed > SETTLED_NS;
}

#endif
