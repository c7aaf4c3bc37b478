/* SPDX-License-Identifier: GPL-2.0 */
/* The wireless stations that an interface speaks with, and the queues to each. */
#ifndef NICPROBE_STATION_H
#define NICPROBE_STATION_H

#include <stdint.h>

#include "lib/core/meta.h"
#include "lib/read/snapshot.h"

enum {
	STATION_NO_QOS = 16,	/* frames that have no TID */
	STATION_WHOLE = 255	/* what is not told by TID */
};

struct station_key {
	uint8_t mac[6], tid;
	uint8_t unused;
};

struct station {
	uint64_t packets[2], bytes[2];		/* received, sent */
	uint64_t retries, failed;
	uint64_t dropped, marked;		/* in mac80211's own queue */
	uint64_t beacon_losses;
};

struct nlmsghdr;
/* Takes up what nl80211 says of one station; a callback for netlink_ask(): `table` is a table. */
int station_take(const struct nlmsghdr *, void *table);

#endif
