/* SPDX-License-Identifier: GPL-2.0 */
/* What `ethtool -S` shows: statistics under the driver's own and under common names. */
#ifndef NICPROBE_STATISTICS_H
#define NICPROBE_STATISTICS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/core/nic_driver.h"

/*
 * Calls `each` for every statistic of an interface, in the driver's order, until it returns
 * non-zero, and returns that. 0 without a call: it has none. -errno: they cannot be read.
 */
int ethtool_stats_each(const char *iface, int (*each)(const char *name, uint64_t value, void *arg),
		       void *arg);

enum stat_way { STAT_RX, STAT_TX, STAT_NEITHER, NR_STAT_WAYS };
#define STAT_NO_QUEUE	(-1)	/* of the whole interface */

/* The meaning of a driver's name for a statistic. */
struct stat_meaning {
	const struct stat_name *as;	/* NULL: unknown; the rest is parsed from the name */
	bool level;			/* a gauge, not a counter */
	enum stat_way way;
	int queue;
};

/* vmxnet3 has headings, "Tx Queue#" with the number as value: `queue` and `way` of what follows. */
struct stat_heading {
	enum stat_way way;
	int queue;
	bool any;
};

/* Matches `name` with `pattern`, and reads the number for %r or %t; STAT_NO_QUEUE: none. */
bool stat_match(const char *pattern, const char *name, int *queue);
/* The meaning of one statistic; remembers a heading for those that follow. */
struct stat_meaning stat_meaning(const struct driver *, struct stat_heading *, const char *name,
				 uint64_t value);

#endif
