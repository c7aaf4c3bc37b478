/* SPDX-License-Identifier: GPL-2.0 */
/* One statistic of the driver or the card, per queue or for the interface. */
#ifndef NICPROBE_HWSTAT_H
#define NICPROBE_HWSTAT_H

#include <stdint.h>

#include "lib/core/meta.h"
#include "lib/net/statistics.h"
#include "lib/read/snapshot.h"

struct error;

#define HWSTAT_OWN	0xff	/* rank: it has only the driver's name */
#define HWSTAT_ALL	0xffff	/* queue: the whole interface */

enum hwstat_source { HWSTAT_QSTATS, HWSTAT_ETHTOOL, HWSTAT_LINK, NR_HWSTAT_SOURCES };

/* Sorts by memcmp() in the order shown. */
struct hwstat_key {
	uint8_t way;		/* enum stat_way */
	uint8_t queue[2];	/* big endian */
	uint8_t rank;		/* of its name in stat_names */
	char own[35];		/* the driver's name, if it has no common one; padded with zeros */
	uint8_t source;		/* enum hwstat_source */
};
KEY_BYTES(struct hwstat_key, 40);

struct hwstat {
	uint64_t value;
};

static inline unsigned hwstat_queue(const struct hwstat_key *key)
{
	return key->queue[0] << 8 | key->queue[1];
}

/* Reads their present values, zeros too. 0 or -errno. */
int hwstat_read(const struct meta *, struct table *, struct error *);
/* Why statistics are missing or have no common names; NULL: nothing is wrong. */
const char *hwstat_without(const struct meta *);

#endif
