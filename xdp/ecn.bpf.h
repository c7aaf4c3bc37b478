/* SPDX-License-Identifier: GPL-2.0 */
/* Counts wire packets by ECN codepoint: GRO merges only equal ones, and GSO copies it. */
METER_MAP(ecn);

static __always_inline void ecn_packet(const struct packet *p, __u64 at)
{
	__u64 codepoint = p->ecn;

	if (codepoint >= NR_ECN) {
		lost_add(METER_ecn, p->segs);
		return;
	}
	barrier_var(codepoint);	/* it is used as it was compared */
	row_there(ecn, at)->packets[codepoint] += p->segs;
}
