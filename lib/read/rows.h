/* SPDX-License-Identifier: GPL-2.0 */
/* One meter's map as a table: CPUs summed, no room taken by rows where nothing happened. */
#ifndef NICPROBE_READ_ROWS_H
#define NICPROBE_READ_ROWS_H

#include "lib/read/snapshot.h"

struct error;

/*
 * Reads the map of a meter that has no .read. 0 or -errno; -EPROTO with an
 * error. What the table has is freed by snapshot_free(), whatever comes back.
 */
int table_read(const struct meter *, const struct meta *, struct table *, int fd, struct error *);

#endif
