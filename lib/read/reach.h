/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How far the rows of a map reach. A driver allocates more queues than it uses (a tap 256, veth
 * and virtio as many as were asked for): who reads again and again leaves out the rows of those.
 */
#ifndef NICPROBE_READ_REACH_H
#define NICPROBE_READ_REACH_H

#include <stdbool.h>

#include "lib/core/meta.h"
#include "lib/core/meter.h"

/*
 * Rows of each point that can have grown: that many, and the last. meta->near, if others never had
 * anything. meta->rows: all of them, as this process has not read them yet, or does not know the
 * queues, or it is time to look at all again.
 */
unsigned reach_rows(const struct meta *, const struct meter *, __u32 map_id);

/* All rows of the map were read; from `rows` on nothing was in them, but for the last. */
void reach_read(const struct meta *, const struct meter *, __u32 map_id, unsigned rows);

/*
 * What the interface has in use, asked after its maps were read. False: rows were left out for
 * other queues than these. Then they are to be read again, and none is left out.
 */
bool reach_queues(const struct meta *, unsigned rx, unsigned tx);

#endif
