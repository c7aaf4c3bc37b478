/* SPDX-License-Identifier: GPL-2.0 */
/* Counts wire packets by ECN codepoint: GRO merges only equal ones, and GSO copies it. */
METER_MAP(ecn);

static __always_inline void ecn_packet(const struct packet *p)
{
	__u32 codepoint = p->ecn;
	struct ecn *row;

	if (codepoint >= NR_ECN) {
		lost_add(METER_ecn, p->segs);
		return;
	}
	row = own_row(ecn, p->row);
	/*
	 * the 6.1 verifier forgets bounds of values spilled meanwhile: test again right before use
	 */
	barrier_var(codepoint);
	if (row && codepoint < NR_ECN)
		row->packets[codepoint] += p->segs;
}
