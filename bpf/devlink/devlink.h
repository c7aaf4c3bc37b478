/* SPDX-License-Identifier: GPL-2.0 */
/* Counters of one devlink trap or health reporter. */
#ifndef NICPROBE_DEVLINK_METER_H
#define NICPROBE_DEVLINK_METER_H

#include <stdint.h>

#include "lib/core/meta.h"
#include "lib/net/devlink_dump.h"
#include "lib/read/snapshot.h"

struct devlink_key {		/* texts, padded with zeros */
	uint8_t kind;		/* enum devlink_kind */
	uint8_t of_port;
	uint8_t type;		/* enum devlink_trap_type */
	char name[DEVLINK_NAME], group[DEVLINK_NAME];
};
KEY_BYTES(struct devlink_key, 3 + 2 * DEVLINK_NAME);

struct devlink_row {
	uint64_t packets, bytes, dropped, errors, recoveries;
};

/* Adds a row for each. 0 or -ENOMEM. */
int devlink_put(const struct devlink *, struct table *);

#endif
