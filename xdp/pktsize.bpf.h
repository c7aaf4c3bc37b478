/* SPDX-License-Identifier: GPL-2.0 */
/* Counts sizes: of wire packets at the nic points, of buffers at the stack points. */
#include "xdp/pktsize.h"

METER_MAP(pktsize);

/* A chain of branches, not a sum of comparisons: common sizes leave it early, and predictably. */
static __always_inline __u64 pktsize_slot(__u64 len)
{
#define B(slot, bound) len <= bound ? slot :
	return PKTSIZE_BOUNDS(B) PKTSIZE_SLOTS - 1;
#undef B
}

static __always_inline void pktsize_packet(const struct packet *p, __u64 at)
{
	struct pktsize *row = row_there(pktsize, at);

	if (p->segs > 1)
		row->more_packets += p->segs - 1;
	if (point_is_nic(p->point) && p->segs > 1) {
		row->size.slot[pktsize_slot(p->seg_len)] += p->segs - 1;
		row->size.slot[pktsize_slot(p->last_len)]++;
		row->size.sum += packet_bytes(p);
		row->more_bytes += packet_bytes(p) - p->len;
		row->linear += p->linear;
	} else {
		HIST_ADD(row->size, pktsize_slot(p->len), p->len);
		if (p->point == TX_NIC && p->len < TOLD(tx_least))
			row->padding += TOLD(tx_least) - p->len;
	}
}
