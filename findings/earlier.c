/* SPDX-License-Identifier: GPL-2.0 */
/* Losses that have ended: found by the times that the drop meter remembers. */
#include <stdlib.h>

#include "bpf/drop/drop.h"
#include "findings/dropping.h"
#include "findings/subjects.h"

/* Findings of other subjects that rest on drops alone. */
static const struct loss others[] = {
	{ .kind.id = "qdisc-drops", .reasons = { "QDISC_*", "FQ_*", "CAKE_*", "DUALPI2_*" } },
	{ .kind.id = "backlog-full", .reasons = { "CPU_BACKLOG" } },
	{ .kind.id = "tx-ring-full", .reasons = { "FULL_RING" } },
	{ .kind.id = "tc-ingress-drops", .reasons = { "TC_INGRESS" } },
	{ .kind.id = "tc-egress-drops", .reasons = { "TC_EGRESS" } },
	{ .kind.id = "cgroup-drops", .reasons = { "BPF_CGROUP_EGRESS" } },
	{ .kind.id = "firewall-drops", .reasons = { "NETFILTER_DROP" } },
	{ .kind.id = "ipsec-drops", .reasons = { "XFRM_POLICY" } },
};

/* Index of the remembered rate that matches a finding's threshold; -1: none. */
static int spell_of(const struct finding_kind *kind)
{
	static const unsigned least[] = DROP_SPELL_LEAST;

	for (int i = 0; i < DROP_SPELLS && kind->limits[0]; i++)
		if (kind->limits[0]->value <= least[i])
			return i;
	return -1;
}

struct last_seen {
	uint64_t packets;
	unsigned last;		/* second of CLOCK_MONOTONIC; 0: never reached the threshold */
};

static struct last_seen seen_of(const struct snapshot *total, const struct loss *l, int spell)
{
	const struct table *t = &total->tables[METER_drop];
	const struct drop_key *keys = (const void *)t->keys;
	struct last_seen seen = {};

	for (unsigned row = 0; t->cells && row < t->rows; row++) {
		const struct drop *d = (const void *)row_words(t, row, 0);

		if (keys[row].direction == DROP_UNSURE || !loss_fits(l, &keys[row], false))
			continue;
		seen.packets += d->packets;
		if (d->spell[spell] > seen.last)
			seen.last = d->spell[spell];
	}
	return seen;
}

/*
 * Skips losses that the window reports itself, or that went on in it below the threshold. The time
 * has a resolution of one second, so the loss may be a second older than reported.
 */
static void add(struct snapshot *window, const struct snapshot *total,
		const struct finding_kind *kind, const struct loss *l)
{
	int spell = spell_of(kind);
	struct findings *f = &window->findings;
	struct last_seen seen;
	double ago;

	if (spell < 0 || f->nr_earlier == MAX_EARLIER || finding_find(f, kind->id))
		return;
	seen = seen_of(total, l, spell);
	ago = total->mono_ns * 1e-9 - seen.last;
	if (!seen.last || ago < window->seconds + 1)
		return;
	f->earlier[f->nr_earlier++] = (struct earlier){ kind, seen.packets, ago };
}

static int later_first(const void *a, const void *b)
{
	const struct earlier *x = a, *y = b;

	return x->ago == y->ago ? 0 : x->ago < y->ago ? -1 : 1;
}

void findings_earlier(struct snapshot *window, const struct snapshot *total)
{
	struct findings *f = &window->findings;
	const struct loss *l;

	f->nr_earlier = 0;
	if (!window->interval || !(total->meta.on >> METER_drop & 1))
		return;
	for (unsigned i = 0; (l = loss_at(i)); i++)
		if (*l->reasons)
			add(window, total, &l->kind, l);
	for (unsigned i = 0; i < sizeof(others) / sizeof(*others); i++)
		add(window, total, kind_find(others[i].kind.id), &others[i]);
	qsort(f->earlier, f->nr_earlier, sizeof(*f->earlier), later_first);
}
