/* SPDX-License-Identifier: GPL-2.0 */
/* The wireless stations that an interface talks to, and the queues to each. */
#ifndef NICPROBE_STATION_H
#define NICPROBE_STATION_H

#include <stdint.h>

#include "lib/core/meta.h"
#include "lib/read/snapshot.h"

enum {
	STATION_NO_QOS = 16,	/* frames without a TID */
	STATION_WHOLE = 255	/* counters that are not per TID */
};

struct station_key {
	uint8_t mac[6], tid;
	uint8_t unused;
};
KEY_BYTES(struct station_key, 8);

struct station {
	uint64_t packets[2], bytes[2];		/* received, sent */
	uint64_t retries, failed;
	uint64_t dropped, marked;		/* by mac80211's queue */
	uint64_t beacon_losses;
};

struct nlmsghdr;
/* Adds what nl80211 reports on one station to a struct table. A callback for netlink_ask(). */
int station_take(const struct nlmsghdr *, void *table);

#endif
