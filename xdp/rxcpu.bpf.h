/* SPDX-License-Identifier: GPL-2.0 */
/* Counts what each CPU takes from each receive queue: the map is per CPU, so it is all there. */
#include "xdp/rxcpu.h"

METER_MAP(rxcpu);

static __always_inline void rxcpu_count(struct packet *p)
{
	struct rxcpu *row;

	if (p->point != RX_NIC)
		return;
	row = row_at(&rxcpu, p->row);	/* RX_NIC is 0: the row is the queue */
	if (row) {
		row->packets += p->segs;
		row->bytes += packet_bytes(p);
		if (packet_for(p, METER_flow) && __builtin_expect(row->packets >= row->look, 0))
			row->look = flow_due(p, row->packets, !row->look);
	}
}

static __always_inline void rxcpu_packet(struct packet *p)
{
	if (!p->counted)
		rxcpu_count(p);
}
