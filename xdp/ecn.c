/* SPDX-License-Identifier: GPL-2.0 */
/* How the codepoints are called, and what marks mean. */
#include <inttypes.h>

#include "../lib/log.h"
#include "../lib/snapshot.h"
#include "ecn.h"

static const char *const codepoints[NR_ECN] = {
	[ECN_NOT_IP] = "not-ip",
	[ECN_NOT_ECT] = "not-ect",
	[ECN_ECT1] = "ect1",
	[ECN_ECT0] = "ect0",
	[ECN_CE] = "ce",
};

static const struct metric metrics[] = {
	COUNTER(struct ecn, packets, .name = "packets", .unit = "packets",
		.label = "codepoint", .labels = codepoints,
		.help = "Wire packets by ECN codepoint; ce is a router saying: congested."),
	{}
};

static void sum(const struct snapshot *s, enum point point, uint64_t packets[NR_ECN])
{
	const struct table *t = &s->tables[METER_ecn];

	for (unsigned i = 0; i < NR_ECN; i++)
		packets[i] = 0;
	for (unsigned row = 0; row < t->rows; row++)
		for (unsigned i = 0; i < NR_ECN; i++)
			if (place_of(s, &meter_ecn, row).point == point)
				packets[i] += cell(t, row, 0, metrics)[i];
}

static uint64_t capable(const uint64_t packets[NR_ECN])
{
	return packets[ECN_ECT0] + packets[ECN_ECT1] + packets[ECN_CE];
}

static void judge(const struct snapshot *s, struct findings *f)
{
	uint64_t in[NR_ECN], stack[NR_ECN], nic[NR_ECN];

	sum(s, RX_NIC, in);
	sum(s, TX_STACK, stack);
	sum(s, TX_NIC, nic);
	if (in[ECN_CE] && in[ECN_CE] * 100 >= capable(in))
		finding(f, "ecn", text("nicprobe show %s ecn_source", s->name),
			"%.1f%% of the ECN-capable packets arrived marked CE: "
			"a queue on their way here is congested", 100.0 * in[ECN_CE] / capable(in));
	if (s->wanted >> METER_qdisc & 1)
		return;		/* it says the next, too, and knows which qdisc */
	if (s->meta.tap[TX_STACK][0] && s->meta.tap[TX_NIC][0] &&
	    nic[ECN_CE] > stack[ECN_CE] && (nic[ECN_CE] - stack[ECN_CE]) * 100 >= capable(nic))
		finding(f, "ecn", text("tc -s qdisc show dev %s", s->meta.iface),
			"this host's own qdisc marked %" PRIu64 " packets CE, %.1f%% of the "
			"ECN-capable",
			nic[ECN_CE] - stack[ECN_CE],
			100.0 * (nic[ECN_CE] - stack[ECN_CE]) / capable(nic));
}

const struct meter meter_ecn = {
	.name = "ecn",
	.help = "ECN codepoints, in wire packets",
	.by = BY_QUEUE | BY_POINT,
	.row_size = sizeof(struct ecn),
	.metrics = metrics,
	.judge = judge,
};
