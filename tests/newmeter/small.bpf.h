/* SPDX-License-Identifier: GPL-2.0 */
/* Counts packets of less than 128 bytes. */
#include "xdp/small.h"

METER_MAP(small);

static __always_inline void small_packet(const struct packet *p)
{
	struct small *row = row_at(&small, p->row);

	if (row && p->len < 128)
		row->packets += p->segs;
}
