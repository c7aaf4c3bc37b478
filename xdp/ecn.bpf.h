/* SPDX-License-Identifier: GPL-2.0 */
/* Counts wire packets by ECN codepoint: GRO merges only equal ones, GSO copies what is there. */
METER_MAP(ecn);

static __always_inline void ecn_packet(const struct packet *p)
{
	__u32 codepoint = p->ecn;
	struct ecn *row;

	if (codepoint >= NR_ECN) {
		lost_add(METER_ecn, p->segs);
		return;
	}
	row = row_at(&ecn, p->row);
	/* 6.1 forgets the bound of what lay on the stack meanwhile: test again, next to its use */
	barrier_var(codepoint);
	if (row && codepoint < NR_ECN)
		row->packets[codepoint] += p->segs;
}
