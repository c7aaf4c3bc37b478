/* SPDX-License-Identifier: GPL-2.0 */
/* Counts sent buffers and the work left for them, before the qdisc and at the driver. */
METER_MAP(gso);

static __always_inline void gso_packet(const struct packet *p, __u64 at)
{
	struct gso *row;

	if (p->point != TX_STACK && p->point != TX_NIC)
		return;
	row = row_there(gso, at);
	HIST_ADD(row->size, segs_slot(p->segs), p->segs);
	for (int i = 0; i < NR_WORK; i++)
		if (p->work >> i & 1)
			row->left[i] += p->segs;
}
