/* SPDX-License-Identifier: GPL-2.0 */
/* Findings about hooks that no longer see all packets, and maps that are full. */
#include <inttypes.h>

#include "bpf/ledger/ledger.h"
#include "findings/subjects.h"
#include "xdp/ecn_source.h"

enum { HOOK_BLIND, SOURCES_FORGOTTEN };

static const struct limit few = { 100, "100 packets" };
static const struct limit share = { .001, "a thousandth of the packets" };

static const struct finding_kind kinds[] = {
	[HOOK_BLIND] = {
		.id = "hook-blind", RATED(INFO, BLIND),
		RESTS(ALWAYS, 0, ON(ledger)),
		.title = "A hook of nicprobe no longer sees all packets",
		.means = "Something changed after nicprobe was attached: another program now runs "
			 "before nicprobe's at tc or XDP, or replaced it, or the interface moved "
			 "to another network namespace. Meters at this point miss some or all "
			 "packets. Or it has a queueing discipline now and had none: then a packet "
			 "that the driver gives back, to be sent again, counts twice.",
		.when = "the kernel lists another program before nicprobe's, or does not list "
			"nicprobe's; or the interface has left the network namespace in which it "
			"was attached; or the kernel lists a queueing discipline where none was",
		.remedy = "nicprobe detach IFACE; nicprobe attach IFACE: nicprobe runs first "
			  "again, and sees how the interface is now.",
		.symptom = "One point counts nothing while others do",
	},
	[SOURCES_FORGOTTEN] = {
		.id = "ecn-sources-forgotten", RATED(INFO, BLIND),
		RESTS(RECEIVED, ON(ecn_source), 0),
		.title = "More senders of CE-marked packets than the table can hold",
		.means = "The meter ecn_source keeps the addresses that sent CE-marked packets. "
			 "More senders appeared than it has room for, and those that had sent "
			 "least of late were evicted. So many senders behind one congested queue "
			 "are rare: the addresses may be forged.",
		.when = "the table of a CPU may be full, and {1} marked CE and {2} are from "
			"senders that it no longer holds",
		.remedy = "tcpdump -nni IFACE 'ip[1] & 3 == 3' shows them; source filtering "
			  "(rp_filter, uRPF on the router) drops forged ones.",
		.symptom = "ecn_source counts fewer packets than ecn",
		.limits = { &few, &share },
	},
};

/* Packets that one rx point saw in the window and the given one missed. */
static uint64_t unseen(struct evidence *e, enum point point)
{
	bool by_queue = e->s->tables[METER_ledger].rows > 2;
	int64_t more = 0;

	for_each_row(r, e, METER_ledger) {
		const struct ledger_key *key = r.key;
		const struct ledger *l = (const void *)r.words;

		if (key->way || (ledger_queue(key) != LEDGER_ALL && by_queue))
			continue;
		more = point == RX_STACK ? l->ours - l->stack : l->driver - l->ours;
	}
	return more > 0 && (point == RX_NIC || point == RX_STACK) ? more : 0;
}

static void judge_hooks(struct evidence *e)
{
	const struct snapshot *s = e->s;
	int first = -1, more = 0;
	struct finding *f;
	uint64_t n = 0;

	for (int p = 0; p < NR_POINTS; p++)
		if (*s->blind[p]) {
			n += unseen(e, p);
			more += first >= 0;
			first = first < 0 ? p : first;
		}
	if (first < 0 || s->gone)	/* an interface that is gone is reported as its state */
		return;
	f = finding_add(e->f, &kinds[HOOK_BLIND], -1, "%s%s: %s", point_names[first],
			!more ? " does not see all packets" : " and others do not see all packets",
			s->blind[first]);
	finding_packets(e, f, n);
	if (!n)		/* nobody counts them: of these some */
		finding_strikes(f, rate(e, received(e, -1, -1) + sent_packets(e)));
	finding_fix(f, "nicprobe", "detach", s->name);
	finding_fix(f, "nicprobe", "attach", *s->now ? s->now : s->name);
}

static void judge_sources(struct evidence *e)
{
	const struct table *t = &e->s->tables[METER_ecn_source];
	uint64_t lost = e->s->lost[METER_ecn_source], kept = 0;
	unsigned room = table_sets(e->s->meta.cpus) * TABLE_WAYS;	/* of one CPU */
	struct finding *f;

	/*
	 * up to Linux 6.10 a packet with an unreadable header counts as lost: no table is full
	 */
	if (!has(e, METER_ecn_source) || t->rows < room / 2)
		return;
	for_each_row(r, e, METER_ecn_source)
		kept += *r.words;
	if (!worth(e, lost, few.value) || lost < share.value * (lost + kept))
		return;
	f = finding_add(e->f, &kinds[SOURCES_FORGOTTEN], -1,
			"%" PRIu64 " packets marked CE (%.0f%%) are from senders that ecn_source "
			"had no room for; it holds %u",
			lost,
			100.0 * lost / (lost + kept), t->rows);
	finding_packets(e, f, lost);
	finding_advise(f, "are the addresses forged? tcpdump -nni %s 'ip[1] & 3 == 3'; sysctl "
		       "net.ipv4.conf.%s.rp_filter=1",
		       e->s->meta.iface, e->s->meta.iface);
}

static void judge(struct evidence *e)
{
	judge_hooks(e);
	judge_sources(e);
}

DEFINE_SUBJECT(hooks, "Hooks: points that do not see all packets")
