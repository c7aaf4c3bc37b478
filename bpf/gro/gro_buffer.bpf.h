/* SPDX-License-Identifier: GPL-2.0 */
/* The buffers that the stack receives: counted by the program at tc, or at netif_receive_skb. */
#ifndef NICPROBE_GRO_BUFFER_BPF_H
#define NICPROBE_GRO_BUFFER_BPF_H

#include "xdp/packet.bpf.h"
#include "bpf/gro/gro.h"

METER_MAP(gro);

/* Runs on any CPU (RPS), or within napi_gro_receive() of a later frame: so it has its own words. */
static __always_inline void gro_buffer(const struct packet *p)
{
	struct gro *row = own_row(gro, p->row - row_of(RX_STACK, 0));

	if (!row)
		return;
	HIST_ADD(row->size, segs_slot(p->segs), p->segs);
	row->bytes += p->len;
}

#endif
