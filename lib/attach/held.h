/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Maps that stay mapped, and programs that stay open, from one round of readings to the next: to
 * map a page and to unmap it takes the kernel longer than to read what it has, and to find and
 * close a program longer than to ask it. Their memory outlasts a detach until the next round.
 */
#ifndef NICPROBE_HELD_H
#define NICPROBE_HELD_H

#include <stddef.h>

#include <linux/types.h>

/*
 * A round of readings is over, or the first is about to begin; the next one begins in this many
 * seconds. What this round has not asked for is let go; and all, if that is too long to hold the
 * memory of an interface that may be detached meanwhile.
 */
void held_until(double seconds);

/* The whole map, held; NULL: it is to be mapped for this reading alone. */
const void *held_map(int fd, __u32 map_id, size_t size);

/* A descriptor of the program, not to be closed; -1: it is to be opened for this question alone. */
int held_program(__u32 id);

#endif
