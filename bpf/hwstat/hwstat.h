/* SPDX-License-Identifier: GPL-2.0 */
/* One statistic that the driver or the card counts by itself, of a queue or of all. */
#ifndef NICPROBE_HWSTAT_H
#define NICPROBE_HWSTAT_H

#include <stdint.h>

#include "lib/core/meta.h"
#include "lib/net/statistics.h"
#include "lib/read/snapshot.h"

#define HWSTAT_OWN	0xff	/* rank: it has only the driver's own name */
#define HWSTAT_ALL	0xffff	/* queue: it is of the interface */

enum hwstat_source { HWSTAT_QSTATS, HWSTAT_ETHTOOL, HWSTAT_LINK, NR_HWSTAT_SOURCES };

/* In the order shown: bytes compare as that. */
struct hwstat_key {
	uint8_t way;		/* enum stat_way */
	uint8_t queue[2];	/* the higher byte first */
	uint8_t rank;		/* of its name in stat_names */
	char own[35];		/* the driver's name, if there is no other; filled up with zeros */
	uint8_t source;		/* enum hwstat_source */
};

struct hwstat {
	uint64_t value;
};

static inline unsigned hwstat_queue(const struct hwstat_key *key)
{
	return key->queue[0] << 8 | key->queue[1];
}

/* All of them as they are now, zeros too. 0 or -errno. */
int hwstat_read(const struct meta *, struct table *);
/* Why statistics that there could be are not there, or go by no common name; NULL: nothing is. */
const char *hwstat_without(const struct meta *);

#endif
