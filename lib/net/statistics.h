/* SPDX-License-Identifier: GPL-2.0 */
/* What `ethtool -S` shows: statistics under the driver's own names, and by common ones. */
#ifndef NICPROBE_STATISTICS_H
#define NICPROBE_STATISTICS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/core/nic_driver.h"

/*
 * Calls `each` with every statistic of an interface, in the driver's order, until it returns other
 * than 0; returns that. 0 without a call: it has none. -errno: they cannot be read.
 */
int ethtool_stats_each(const char *iface, int (*each)(const char *name, uint64_t value, void *arg),
		       void *arg);

enum stat_way { STAT_RX, STAT_TX, STAT_NEITHER, NR_STAT_WAYS };
#define STAT_NO_QUEUE	(-1)	/* of the interface */

/* What a driver's name for a statistic means. */
struct stat_meaning {
	const struct stat_name *as;	/* NULL: not known; the rest says what its name tells */
	bool level;			/* how much there is now: it does not grow */
	enum stat_way way;
	int queue;
};

/* vmxnet3 has headings, "Tx Queue#" with its number as the value; `queue` and `way` are its. */
struct stat_heading {
	enum stat_way way;
	int queue;
	bool any;
};

/* Whether `name` is that of `pattern`, with the number for its %r or %t; STAT_NO_QUEUE: none. */
bool stat_match(const char *pattern, const char *name, int *queue);
/* What this one means; a heading is remembered for those that come after it. */
struct stat_meaning stat_meaning(const struct driver *, struct stat_heading *, const char *name,
				 uint64_t value);

#endif
