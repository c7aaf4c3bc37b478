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

/* The row of the meter drop, if it is of this loss; else NULL. */
static const struct drop *row_of(const struct table *t, unsigned row, const struct loss *l)
{
	const struct drop_key *key = (const void *)(t->keys + row * sizeof(*key));

	return key->direction == DROP_UNSURE || !loss_fits(l, key, false) ? NULL :
	       (const void *)row_words(t, row, 0);
}

/* The second of CLOCK_MONOTONIC when it last reached the threshold; 0: never. */
static unsigned last_of(const struct table *t, const struct loss *l, int spell)
{
	unsigned last = 0;

	for (unsigned row = 0; t->cells && row < t->rows; row++) {
		unsigned when = ((const struct drop *)row_words(t, row, 0))->spell[spell];

		if (when > last && row_of(t, row, l))	/* few rows have one: first */
			last = when;
	}
	return last;
}

static uint64_t packets_of(const struct table *t, const struct loss *l)
{
	uint64_t packets = 0;

	for (unsigned row = 0; t->cells && row < t->rows; row++) {
		const struct drop *d = row_of(t, row, l);

		packets += d ? d->packets : 0;
	}
	return packets;
}

/*
 * Skips losses that the window reports itself, or that went on in it below the threshold. The time
 * has a resolution of one second, so the loss may be a second older than reported.
 */
static void add(struct snapshot *window, const struct snapshot *total,
		const struct finding_kind *kind, const struct loss *l)
{
	const struct table *t = &total->tables[METER_drop];
	int spell = spell_of(kind);
	struct findings *f = &window->findings;
	unsigned last;
	double ago;

	if (spell < 0 || f->nr_earlier == MAX_EARLIER || finding_find(f, kind->id))
		return;
	last = last_of(t, l, spell);
	ago = total->mono_ns * 1e-9 - last;
	if (last && ago >= window->seconds + 1)
		f->earlier[f->nr_earlier++] = (struct earlier){ kind, packets_of(t, l), ago };
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
