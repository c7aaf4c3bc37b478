/* SPDX-License-Identifier: GPL-2.0 */
/* Counts received CE packets by source address. */
#include "xdp/ecn_source.h"

METER_RECENT_MAP(ecn_source, ECN_SOURCES);

static __always_inline void ecn_source_packet(const struct packet *p)
{
	struct ecn_source_key key = {};
	struct ecn_source *row, zero = {};

	if (p->point == RX_NIC && p->ecn == ECN_UNREAD)
		lost_add(METER_ecn_source, p->segs);	/* it may have been marked */
	if (p->point != RX_NIC || p->ecn != ECN_CE)
		return;
	__builtin_memcpy(key.address, p->src, sizeof(key.address));
	key.ipv6 = p->ipv6;
	row = lookup_or_init(&ecn_source, &key, &zero);
	lost_add(METER_ecn_source, p->segs);	/* show subtracts what the rows hold */
	if (row)
		row->packets += p->segs;
}
