/* SPDX-License-Identifier: GPL-2.0 */
/* Counts sent buffers and the work left for them, before the qdisc and at the driver. */
METER_MAP(gso);

static __always_inline void gso_packet(const struct packet *p)
{
	struct gso *row;

	if (p->point != TX_STACK && p->point != TX_NIC)
		return;
	row = own_row(gso, p->row);
	if (!row)
		return;
	HIST_ADD(row->size, segs_slot(p->segs), p->segs);
	for (int i = 0; i < NR_WORK; i++)
		if (p->work >> i & 1)
			row->left[i] += p->segs;
}
