/* SPDX-License-Identifier: GPL-2.0 */
/* The hash of a keyed meter as a table. */
#ifndef NICPROBE_READ_KEYED_H
#define NICPROBE_READ_KEYED_H

#include "lib/read/snapshot.h"

/*
 * An entry has `words` of each of so many CPUs. `t` has its shape, and no rows yet. 0 or -errno.
 * What the table has is freed by snapshot_free(), whatever comes back.
 */
int keyed_read(const struct meter *, struct table *t, int fd, unsigned cpus, unsigned words);

/* Makes room for so many rows in all; false: there is no memory. */
bool table_room(const struct meter *, struct table *t, size_t rows);

#endif
