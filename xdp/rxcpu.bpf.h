/* SPDX-License-Identifier: GPL-2.0 */
/* Counts packets per receive queue; its map is per CPU, which gives the CPU as well. */
#include "xdp/rxcpu.h"

METER_MAP(rxcpu);

static __always_inline void rxcpu_count(struct packet *p, __u64 at)
{
	struct rxcpu *row;
	__u64 packets;

	if (p->point != RX_NIC)
		return;
	row = row_there(rxcpu, at);	/* RX_NIC is 0, so the row is the queue */
	packets = row->packets + p->segs;
	row->packets = packets;
	row->bytes += packet_bytes(p);
	if (meter_on(METER_flow) && !LIKELY(packets < row->look))
		row->look = flow_due(p, packets, !row->look);
}

static __always_inline void rxcpu_packet(struct packet *p, __u64 at)
{
	if (!p->counted)
		rxcpu_count(p, at);
}
