/* SPDX-License-Identifier: GPL-2.0 */
/* Counts what software segments, checksums or copies, by the missing feature. */
METER_KEYED_MAP(offload, OFFLOAD_ROWS);

static __always_inline void offload_packet(const struct packet *p, __u64 at)
{
	struct offload_key key = {};
	struct offload *row, zero = {};

	(void)at;
	if (p->point != TX_STACK || p->why == WHY_NOT)
		return;
	key.queue = p->row - row_of(TX_STACK, 0);
	key.feature = p->feature;
	key.why = p->why;
	row = lookup_or_init(&offload, &key, &zero);
	if (row) {
		row->packets += p->segs;
		row->buffers++;
	} else {
		lost_add(METER_offload, p->segs);
	}
}
