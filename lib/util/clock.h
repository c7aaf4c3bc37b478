/* SPDX-License-Identifier: GPL-2.0 */
/* The time by a clock of the kernel, as one number. */
#ifndef NICPROBE_CLOCK_H
#define NICPROBE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* When it was so late by the monotonic clock. Both are asked again if something came between. */
static inline struct timespec clock_wall(uint64_t monotonic)
{
	uint64_t before, wall, ns;
	unsigned tries = 0;

	do {
		before = clock_ns(CLOCK_MONOTONIC);
		wall = clock_ns(CLOCK_REALTIME);
	} while (clock_ns(CLOCK_MONOTONIC) - before > 10000 && ++tries < 10);
	ns = wall - before + monotonic;
	return (struct timespec){ .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };
}

/* CLOCK_MONOTONIC */
static inline double seconds_now(void)
{
	return clock_ns(CLOCK_MONOTONIC) * 1e-9;
}

#endif
