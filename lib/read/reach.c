/* SPDX-License-Identifier: GPL-2.0 */
/* Which rows need not be read: of an interface, and of each map that it has. */
#include <string.h>

#include "lib/read/reach.h"
#include "lib/util/list.h"

#define WHOLE_EVERY	16	/* readings: all rows are looked at, whatever is known */

struct extent {			/* of a map that was read whole */
	__u32 map;
	unsigned rows;		/* beyond these it had nothing */
	unsigned readings;	/* since */
};

/* Two interfaces may meet in one place: the later one begins anew. */
static struct reach {
	__u64 cookie;
	__u32 ifindex;
	unsigned rx, tx;	/* queues in use; 0: not known */
	bool partial;		/* rows were left out since that was last compared */
	struct extent extents[NR_METERS];
} reaches[256];

static struct reach *reach_of(const struct meta *meta)
{
	struct reach *r = &reaches[(meta->ifindex ^ meta->netns) % NR_OF(reaches)];

	if (r->ifindex != meta->ifindex || r->cookie != meta->cookie)
		*r = (struct reach){ .ifindex = meta->ifindex, .cookie = meta->cookie };
	return r;
}

unsigned reach_rows(const struct meta *meta, const struct meter *m, __u32 map_id)
{
	struct reach *r = reach_of(meta);
	struct extent *e = &r->extents[meter_id(m)];
	unsigned rows = m->napis ? r->rx + r->tx : r->rx > r->tx ? r->rx : r->tx;

	if (meta->near && meta->near + 1 < meta->rows)
		return meta->near;
	if (!rows || e->map != map_id || ++e->readings == WHOLE_EVERY)
		return meta->rows;
	if (rows < e->rows)
		rows = e->rows;
	if (rows + 1 >= meta->rows)
		return meta->rows;
	r->partial = true;
	return rows;
}

void reach_read(const struct meta *meta, const struct meter *m, __u32 map_id, unsigned rows)
{
	reach_of(meta)->extents[meter_id(m)] = (struct extent){ .map = map_id, .rows = rows };
}

bool reach_queues(const struct meta *meta, unsigned rx, unsigned tx)
{
	struct reach *r = reach_of(meta);
	bool same = r->rx == rx && r->tx == tx, partial = r->partial;

	r->partial = false;
	if (same)
		return true;
	r->rx = rx;
	r->tx = tx;
	memset(r->extents, 0, sizeof(r->extents));
	return !partial;
}
