/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What stays mapped or open from one round of readings to the next: to map a page and to unmap it
 * takes the kernel longer than to read what it has; to find and close a program, or the map of a
 * pin, longer than to ask it. Their memory outlasts a detach until the next round.
 */
#ifndef NICPROBE_HELD_H
#define NICPROBE_HELD_H

#include <stddef.h>

#include <linux/types.h>

/*
 * A round of readings is over, or the first is about to begin; the next one begins in this many
 * seconds. What this round has not asked for is let go; and all, if that is too long to hold the
 * memory of an interface that may be detached meanwhile, and nobody watches.
 */
void held_until(double seconds);

/*
 * For who waits by poll(): a descriptor that can be read once a pin comes or goes beside those that
 * are held. -1: it cannot be had. Whoever has it calls held_changed() then, which lets all go.
 */
int held_watch(void);
void held_changed(void);

/* The whole map, held; NULL: it is to be mapped for this reading alone. */
const void *held_map(int fd, __u32 map_id, size_t size);

/*
 * The map that is pinned there, held; NULL: it is to be opened. It is let go once a pin comes to
 * its directory, goes or is renamed. The caller holds pins_lock().
 */
struct pinned_map;
const struct pinned_map *held_pin(const char *path);
/* Holds a map that was opened, if it can be. */
void held_pin_keep(const char *path, struct pinned_map *);

/* A descriptor of the program, not to be closed; -1: it is to be opened for this question alone. */
int held_program(__u32 id);

#endif
