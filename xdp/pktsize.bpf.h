/* SPDX-License-Identifier: GPL-2.0 */
/* Counts sizes: of wire packets at the nic points, of buffers at the stack points. */
#include "pktsize.h"

METER_MAP(pktsize);

static __always_inline __u32 pktsize_slot(__u32 len)
{
#define B(bound) + (len > bound)
	return 0 PKTSIZE_BOUNDS(B);
#undef B
}

static __always_inline void pktsize_packet(const struct packet *p)
{
	struct pktsize *row = bpf_map_lookup_elem(&pktsize, &p->row);

	if (!row)
		return;
	if (point_is_nic(p->point) && p->segs > 1) {
		row->size.slot[pktsize_slot(p->seg_len)] += p->segs - 1;
		row->size.slot[pktsize_slot(p->last_len)]++;
		row->size.sum += packet_bytes(p);
	} else {
		HIST_ADD(row->size, pktsize_slot(p->len), p->len);
	}
}
