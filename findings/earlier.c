/* SPDX-License-Identifier: GPL-2.0 */
/* Losses that have ended: found by the times that the drop meter remembers. */
#include <stdlib.h>
#include <string.h>

#include "bpf/drop/drop.h"
#include "findings/dropping.h"
#include "findings/subjects.h"

/* Findings of other subjects that rest on drops alone. */
static const struct {
	const char *id, *reasons[MAX_REASONS];
} others[] = {
	{ "qdisc-drops", { "QDISC_*", "FQ_*", "CAKE_*", "DUALPI2_*" } },
	{ "backlog-full", { "CPU_BACKLOG" } },
	{ "tx-ring-full", { "FULL_RING" } },
	{ "tc-ingress-drops", { "TC_INGRESS" } },
	{ "tc-egress-drops", { "TC_EGRESS" } },
	{ "cgroup-drops", { "BPF_CGROUP_EGRESS" } },
	{ "firewall-drops", { "NETFILTER_DROP" } },
	{ "ipsec-drops", { "XFRM_POLICY" } },
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

static void see(struct last_seen *seen, const struct drop *d, int spell)
{
	seen->packets += d->packets;
	if (d->spell[spell] > seen->last)
		seen->last = d->spell[spell];
}

static bool is_other(unsigned nr, const struct drop_key *key)
{
	for (unsigned i = 0; i < MAX_REASONS && others[nr].reasons[i]; i++)
		if (reason_fits(others[nr].reasons[i], key))
			return true;
	return false;
}

/* Sums up a loss, or, if `l` is NULL, entry `nr` of others[]. */
static struct last_seen seen_of(const struct snapshot *total, const struct loss *l, unsigned nr,
			   int spell)
{
	const struct table *t = &total->tables[METER_drop];
	const struct drop_key *keys = (const void *)t->keys;
	struct last_seen seen = {};

	for (unsigned row = 0; t->cells && row < t->rows; row++)
		if (keys[row].direction != DROP_UNSURE &&
		    (l ? loss_fits(l, &keys[row], false) : is_other(nr, &keys[row])))
			see(&seen, (const void *)row_words(t, row, 0), spell);
	return seen;
}

/*
 * Skips losses that the window reports itself, or that went on in it below the threshold. The time
 * has a resolution of one second, so the loss may be a second older than reported.
 */
static void add(struct snapshot *window, const struct snapshot *total,
		const struct finding_kind *kind, const struct loss *l, unsigned nr)
{
	int spell = spell_of(kind);
	struct findings *f = &window->findings;
	struct last_seen seen;
	double ago;

	if (spell < 0 || f->nr_earlier == MAX_EARLIER || finding_find(f, kind->id))
		return;
	seen = seen_of(total, l, nr, spell);
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
			add(window, total, &l->kind, l, 0);
	for (unsigned i = 0; i < sizeof(others) / sizeof(*others); i++)
		add(window, total, kind_find(others[i].id), NULL, i);
	qsort(f->earlier, f->nr_earlier, sizeof(*f->earlier), later_first);
}
