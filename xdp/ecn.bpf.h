/* SPDX-License-Identifier: GPL-2.0 */
/* Counts wire packets by ECN codepoint: GRO merges only equal ones, GSO copies what is there. */
METER_MAP(ecn);

static __always_inline void ecn_packet(const struct packet *p)
{
	struct ecn *row = bpf_map_lookup_elem(&ecn, &p->row);

	if (row && p->ecn < NR_ECN)
		row->packets[p->ecn] += p->segs;
}
