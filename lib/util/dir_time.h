/* SPDX-License-Identifier: GPL-2.0 */
/* Has a directory changed since? It has another time once an entry comes, goes or is renamed. */
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

static inline bool dir_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* `now`: of CLOCK_REALTIME, ns. */
static inline bool dir_settled(const struct stat *st, uint64_t now)
{
	uint64_t changed = st->st_mtim.tv_sec * 1000000000ull + st->st_mtim.tv_nsec;

	return changed < now && now - changed > SETTLED_NS;
}

#endif
