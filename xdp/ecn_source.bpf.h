/* SPDX-License-Identifier: GPL-2.0 */
/* Counts CE packets by their source address, as they come in from the wire. */
#include "xdp/ecn_source.h"

METER_RECENT_MAP(ecn_source, ECN_SOURCES);

static __always_inline void ecn_source_packet(const struct packet *p)
{
	struct ecn_source_key key = {};
	struct ecn_source *row, zero = {};

	if (p->point == RX_NIC && p->ecn == ECN_UNREAD)
		lost_add(METER_ecn_source, p->segs);	/* for all we know it was marked */
	if (p->point != RX_NIC || p->ecn != ECN_CE)
		return;
	__builtin_memcpy(key.address, p->src, sizeof(key.address));
	key.ipv6 = p->ipv6;
	row = bpf_map_lookup_elem(&ecn_source, &key);
	if (!row) {
		bpf_map_update_elem(&ecn_source, &key, &zero, BPF_NOEXIST);
		row = bpf_map_lookup_elem(&ecn_source, &key);
	}
	lost_add(METER_ecn_source, p->segs);	/* what is in a row is taken off again by show */
	if (row)
		row->packets += p->segs;
}
