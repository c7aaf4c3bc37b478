/* SPDX-License-Identifier: GPL-2.0 */
/* What is certainly not well about how an interface is set up, and what to try. */
#include <linux/ethtool.h>
#include <stdlib.h>
#include <string.h>

#include "hw.h"
#include "log.h"

static bool serves(const struct hw_line *l)
{
	return l->rx >= 0 || l->tx >= 0;
}

/* The CPUs that a queue's interrupt goes to; where the hardware does not say, those it may. */
static const struct cpus *goes_to(const struct hw_line *l)
{
	return cpus_next(&l->does, -1) >= 0 ? &l->does : &l->may;
}

/* Of the card's node, if that has any: others are far from it. */
static unsigned near_cpus(const struct hw *h)
{
	unsigned near = cpus_common(&h->online, &h->card.local);

	return near ?: cpus_count(&h->online);
}

/* "combined", or "rx" where a driver has the directions apart. */
static void judge_channels(const struct hw *h, struct findings *f)
{
	const char *way = setting_of(&group_channels, &h->channels, "combined-max") > 0 ?
			  "combined" : "rx";
	long long now = setting_of(&group_channels, &h->channels, way);
	long long most = setting_of(&group_channels, &h->channels, text("%s-max", way));
	long long useful;

	if (h->iface.xdp_id && h->driver->xdp_halves)
		most /= 2;
	useful = most < near_cpus(h) ? most : near_cpus(h);
	if (!*h->card.subsystem || now < 1 || now >= useful)
		return;
	finding(f, "hw", text("ethtool -L %s %s %lld (it may stop the link for a moment)",
			      h->iface.name, way, useful),
		"it uses %lld of %lld possible %squeues, and %u CPUs%s could share the work", now,
		most, *way == 'r' ? "rx " : "", near_cpus(h),
		near_cpus(h) < cpus_count(&h->online) ? " near to it" : "");
}

/* "echo 0 > /proc/irq/31/smp_affinity_list; …", as many as there is room for. */
static const char *spread(const struct hw *h)
{
	char to[200] = "irqbalance, or: ";
	size_t len = strlen(to);
	int cpu = -1;
	bool any = false;

	for (unsigned i = 0; i < h->nr; i++) {
		const char *one;

		if (!serves(&h->lines[i]) || !h->lines[i].irq)
			continue;
		cpu = cpus_next(&h->online, cpu);
		if (cpu < 0)
			cpu = cpus_next(&h->online, -1);
		one = text("%secho %d > /proc/irq/%u/smp_affinity_list", any ? "; " : "", cpu,
			   h->lines[i].irq);
		if (len + strlen(one) + 6 >= sizeof(to)) {
			strcpy(to + len, "; …");
			break;
		}
		len += sprintf(to + len, "%s", one);
		any = true;
	}
	return text("%s", to);
}

/* One CPU has all: the same where each has one alone, and where none was ever spread. */
static void judge_one_cpu(const struct hw *h, struct findings *f)
{
	const struct cpus *one = NULL;
	unsigned rx = 0, tx = 0;

	for (unsigned i = 0; i < h->nr; i++) {
		const struct hw_line *l = &h->lines[i];

		if (!serves(l) || !l->irq)
			continue;
		if (cpus_count(goes_to(l)) != 1 || (one && !cpus_same(one, goes_to(l))) ||
		    (i && h->lines[i - 1].irq == l->irq))
			return;
		one = goes_to(l);
		rx += l->rx >= 0;
		tx += l->tx >= 0;
	}
	if ((rx < 2 && tx < 2) || cpus_count(&h->online) < 2 ||
	    !finding_about(f, ABOUT_ONE_CPU, "hw"))
		return;
	finding(f, "hw", spread(h), "the interrupts of all %u queues go to CPU %d; %u CPUs could "
		"share them", rx > tx ? rx : tx, cpus_next(one, -1), cpus_count(&h->online));
}

/* A remote node has the descriptors and the packets in the wrong caches. */
static void judge_node(const struct hw *h, struct findings *f)
{
	unsigned far = 0, all = 0, irq = 0;
	char near[CPUS_TEXT];

	for (unsigned i = 0; i < h->nr && h->nodes > 1 && h->card.node >= 0; i++) {
		const struct hw_line *l = &h->lines[i];

		if (!serves(l) || !l->irq || cpus_next(goes_to(l), -1) < 0)
			continue;
		all++;
		if (cpus_common(goes_to(l), &h->card.local))
			continue;
		irq = irq ?: l->irq;
		far++;
	}
	if (!far || !cpus_count(&h->card.local))
		return;
	finding(f, "hw", text("echo %s > /proc/irq/%u/smp_affinity_list, and the others; and no "
			      "irqbalance that moves them back",
			      cpus_text(&h->card.local, near, sizeof(near)), irq),
		"%u of %u interrupts of queues go to CPUs of another NUMA node; the card is at "
		"node %d", far, all, h->card.node);
}

/*
 * RPS to CPUs that all have a queue of their own moves a packet to where RSS could have sent it.
 * To the queue's own CPU alone it moves nothing.
 */
static void judge_rps(const struct hw *h, struct findings *f)
{
	struct cpus irqs = {};
	unsigned nr = 0, queues = 0;
	int queue = -1;
	char list[CPUS_TEXT];

	for (unsigned i = 0; i < h->nr; i++)
		if (h->lines[i].rx >= 0 && h->lines[i].irq) {
			cpus_add_all(&irqs, goes_to(&h->lines[i]));
			queues++;
		}
	for (unsigned i = 0; i < h->nr; i++) {
		const struct hw_line *l = &h->lines[i];
		unsigned to = cpus_count(&l->rps);

		if (l->rx < 0 || !l->irq || to < 2 || cpus_common(&l->rps, &irqs) != to ||
		    cpus_count(&irqs) > queues)
			continue;
		queue = queue < 0 ? l->rx : queue;
		if (!nr++)
			cpus_text(&l->rps, list, sizeof(list));
	}
	if (!nr || h->rss.nr < 2)
		return;
	finding(f, "hw", text("echo 0 > /sys/class/net/%s/queues/rx-%d/rps_cpus", h->iface.name,
			      queue),
		"RPS moves packets of %u receive queue%s to CPUs %s, which take the interrupts of "
		"others: RSS spreads them already", nr, nr == 1 ? "" : "s", list);
}

/* Is there a finding already that has these words to try? */
static bool tried(const struct findings *f, const char *words)
{
	for (unsigned i = 0; i < f->nr; i++)
		if (strstr(f->list[i].try, words))
			return true;
	return false;
}

static void judge_ring(const struct hw *h, struct findings *f)
{
	long long now = setting_of(&group_rings, &h->rings, "rx");
	long long most = setting_of(&group_rings, &h->rings, "rx-max");
	const char *try = text("ethtool -G %s rx", h->iface.name);

	if (!h->rx_missed || now < 1 || most < 4 * now || tried(f, try))
		return;
	finding(f, "hw", text("%s %lld (it may stop the link for a moment)", try,
			      4 * now < most ? 4 * now : most),
		"%lu packets found no room since the interface came, and its receive rings hold "
		"%lld of the %lld they could", h->rx_missed, now, most);
}

/* Which receive queues no entry of the table names; with rules of ethtool -N they may have some. */
static void judge_table(const struct hw *h, struct findings *f)
{
	unsigned nr = 0, idle = 0, queues = h->iface.rx_queues;
	bool *used = h->rss.nr ? calloc(queues + 1, sizeof(*used)) : NULL;

	for (unsigned i = 0; used && i < h->rss.nr; i++)
		if (h->rss.table[i] < queues)
			used[h->rss.table[i]] = true;
	for (unsigned i = 0; used && i < queues; i++) {
		nr += used[i];
		idle += !used[i];
	}
	free(used);
	if (!nr || !idle || h->rss.rules)
		return;
	finding(f, "hw", text("ethtool -X %s equal %u; or fewer queues: ethtool -L %s combined %u",
			      h->iface.name, queues, h->iface.name, nr),
		"RSS sends packets to %u of %u receive queues, and no rule sends any to the others",
		nr, queues);
}

static void judge_link(const struct hw *h, struct findings *f)
{
	const struct hw_card *c = &h->card;

	if (*c->subsystem && h->carrier &&
	    setting_of(&group_link, &h->link, "duplex") == DUPLEX_HALF)
		finding(f, "hw", text("let both ends negotiate: ethtool -s %s autoneg on; and look "
				      "at the other end", h->iface.name),
			"the link is half duplex: it cannot send while it receives");
	if (c->width && c->width < c->max_width)
		finding(f, "hw", text("another slot; what it can: lspci -vv -s %s", h->bus),
			"its PCIe link has %u of the card's %u lanes", c->width, c->max_width);
}

/* net/core/dev.c, napi_complete_done(): without a time there is nothing to wait for. */
static void judge_defer(const struct hw *h, struct findings *f)
{
	if (h->defer_hard_irqs < 1 || h->gro_flush_ns)
		return;
	finding(f, "hw", text("echo 50000 > /sys/class/net/%s/gro_flush_timeout", h->iface.name),
		"napi_defer_hard_irqs is %lld, and has no effect while gro_flush_timeout is 0",
		h->defer_hard_irqs);
}

void hw_judge(const struct hw *h, struct findings *f)
{
	judge_link(h, f);
	judge_channels(h, f);
	judge_one_cpu(h, f);
	judge_node(h, f);
	judge_rps(h, f);
	judge_table(h, f);
	judge_ring(h, f);
	judge_defer(h, f);
}
