/* SPDX-License-Identifier: GPL-2.0 */
/* What changed between two readings of an interface's setup, as sentences. */
#include <stdio.h>
#include <string.h>

#include "lib/util/log.h"
#include "record/changes.h"

#define LINES_TOLD	8	/* of queues and interrupts that changed in the same way */

struct teller_of {
	void (*tell)(const char *what, void *arg);
	void *arg;
};

static void number(const struct teller_of *t, const char *what, long long before, long long now)
{
	if (before != now)
		t->tell(text("%s: %lld, now %lld", what, before, now), t->arg);
}

static void word(const struct teller_of *t, const char *what, const char *before, const char *now)
{
	if (strcmp(before, now))
		t->tell(text("%s: %s, now %s", what, *before ? before : "none",
			     *now ? now : "none"), t->arg);
}

static void group(const struct teller_of *t, const struct setting_group *g,
		  const struct settings *before, const struct settings *now)
{
	if (before->err || now->err)
		return;
	for (unsigned i = 0; i < g->nr; i++)
		number(t, text("%s %s", g->name, g->list[i].name), before->value[i],
		       now->value[i]);
}

static const struct ethtool_feature *feature_of(const struct features *f, const char *name)
{
	for (unsigned i = 0; i < f->nr; i++)
		if (!strcmp(f->list[i].name, name))
			return &f->list[i];
	return NULL;
}

static void features(const struct teller_of *t, const struct features *before,
		     const struct features *now)
{
	for (unsigned i = 0; i < now->nr; i++) {
		const struct ethtool_feature *f = &now->list[i];
		const struct ethtool_feature *was = feature_of(before, f->name);

		if (was && (was->is ^ f->is) & FEATURE_ON)
			word(t, text("feature %s", f->name), was->is & FEATURE_ON ? "on" : "off",
			     f->is & FEATURE_ON ? "on" : "off");
	}
}

static const char *beneath(const struct hw_above *a)
{
	const char *all = a->qdisc;

	for (unsigned i = 0; i < a->nr_beneath; i++)
		all = text("%s%s%s", all, i ? ", " : " of ", a->beneath[i].nr > 1 ?
			   text("%u %s", a->beneath[i].nr, a->beneath[i].kind) :
			   a->beneath[i].kind);
	return all;
}

static bool same_line(const struct hw_line *a, const struct hw_line *b)
{
	return a->irq == b->irq && a->rx == b->rx && a->tx == b->tx;
}

/* The one that serves the same; NULL: there was none. */
static const struct hw_line *line_of(const struct hw *h, const struct hw_line *l, unsigned hint)
{
	if (hint < h->nr && same_line(&h->lines[hint], l))
		return &h->lines[hint];
	for (unsigned i = 0; i < h->nr; i++)
		if (same_line(&h->lines[i], l))
			return &h->lines[i];
	return NULL;
}

static const struct cpu_sets {
	const char *what;
	size_t at;
	bool of_irq;
} sets[] = {
	{ "affinity", offsetof(struct hw_line, may), true },
	{ "RPS", offsetof(struct hw_line, rps), false },
	{ "XPS", offsetof(struct hw_line, xps), false },
};

static void one_set(const struct teller_of *t, const struct hw *before, const struct hw *now,
		    const struct cpu_sets *set)
{
	unsigned changed = 0;

	for (unsigned i = 0; i < now->nr; i++) {
		const struct hw_line *l = &now->lines[i], *was = line_of(before, l, i);
		const struct cpus *a, *b = (const void *)((const char *)l + set->at);
		char old[CPUS_TEXT], new[CPUS_TEXT];

		if (!was)
			continue;
		a = (const void *)((const char *)was + set->at);
		if (cpus_same(a, b) || ++changed > LINES_TOLD)
			continue;
		cpus_text(a, old, sizeof(old));
		cpus_text(b, new, sizeof(new));
		word(t, set->of_irq ? text("%s of interrupt %u %s", set->what, l->irq, l->vector) :
		     text("%s of queue %d", set->what, l->rx >= 0 ? l->rx : l->tx), old, new);
	}
	if (changed > LINES_TOLD)
		t->tell(text("%s of %u more changed", set->what, changed - LINES_TOLD), t->arg);
}

static bool same_table(const struct rss *a, const struct rss *b)
{
	return a->err || b->err ||
	       (a->nr == b->nr && (!a->nr || !memcmp(a->table, b->table,
						     a->nr * sizeof(*a->table))));
}

void changes_tell(const struct hw *before, const struct hw *now,
		  void (*tell)(const char *what, void *arg), void *arg)
{
	const struct teller_of t = { tell, arg };

	word(&t, "name", before->iface.name, now->iface.name);
	number(&t, "MTU", before->iface.mtu, now->iface.mtu);
	number(&t, "rx queues", before->iface.rx_queues, now->iface.rx_queues);
	number(&t, "tx queues", before->iface.tx_queues, now->iface.tx_queues);
	group(&t, &group_channels, &before->channels, &now->channels);
	group(&t, &group_rings, &before->rings, &now->rings);
	group(&t, &group_coalesce, &before->coalesce, &now->coalesce);
	group(&t, &group_pause, &before->pause, &now->pause);
	features(&t, &before->features, &now->features);
	if (!same_table(&before->rss, &now->rss))
		tell("RSS: its table is another now", arg);
	for (unsigned i = 0; i < sizeof(sets) / sizeof(*sets); i++)
		one_set(&t, before, now, &sets[i]);
	word(&t, "qdisc", beneath(&before->above), beneath(&now->above));
	word(&t, "master", before->above.master.name, now->above.master.name);
	word(&t, "polls in", before->threaded ? "threads" : "softirqs",
	     now->threaded ? "threads" : "softirqs");
	number(&t, "gro_flush_timeout", before->gro_flush_ns, now->gro_flush_ns);
	number(&t, "napi_defer_hard_irqs", before->defer_hard_irqs, now->defer_hard_irqs);
	if (before->iface.xdp_id != now->iface.xdp_id)
		tell(!now->iface.xdp_id ? "XDP: its program is gone" : !before->iface.xdp_id ?
		     "XDP: it has a program now" : "XDP: it has another program now", arg);
}
