/* SPDX-License-Identifier: GPL-2.0 */
/* The table of "hw": the card, its driver and their settings. */
#include <stdio.h>
#include <string.h>

#include "lib/proc/holders.h"
#include "lib/util/list.h"
#include "lib/util/log.h"
#include "render/hw/hw.h"

#define BASIC		10	/* coalescing settings that are shown even if they are 0 */

void hw_key(struct page *p, const char *key)
{
	page_spaces(p, 2);
	page_styled(p, STYLE_DIM, key);
	page_to(p, HW_COLUMN);
}

void hw_item(struct page *p, const char *what)
{
	if (!*what)
		return;
	if (p->at > HW_COLUMN)
		page_wrap(p, HW_COLUMN, ", ");
	p->width--;	/* leaves room for a comma after the item */
	page_wrap(p, HW_COLUMN, what);
	p->width++;
}

static void row(struct page *p, const char *key, const char *what)
{
	if (!*what)
		return;
	hw_key(p, key);
	page_wrap(p, HW_COLUMN, what);
	page_newline(p);
}

static void driver(struct page *p, const struct hw *h)
{
	hw_key(p, "driver");
	hw_item(p, text("%s%s%s", h->iface.driver, *h->version ? " " : "", h->version));
	if (h->driver != &driver_generic)
		hw_item(p, h->driver->help);
	if (*h->module && strcmp(h->module, h->iface.driver))
		hw_item(p, text("module %s", h->module));
	page_newline(p);
	row(p, "firmware", h->firmware);
}

static void card(struct page *p, const struct hw *h)
{
	const struct hw_card *c = &h->card;

	hw_key(p, "device");
	if (!*c->subsystem)
		hw_item(p, "none: software device");
	else
		hw_item(p, text("%s %s", c->subsystem, c->name));
	if (*c->subsystem && *h->bus && strcmp(h->bus, c->name))
		hw_item(p, text("at %s", h->bus));
	hw_item(p, c->ids);
	if (*c->speed)
		hw_item(p, text("PCIe %.*s x%u", (int)strcspn(c->speed, "P") - 1, c->speed,
			     c->width));
	if (*c->speed && (strcmp(c->speed, c->max_speed) || c->width != c->max_width))
		page_wrap(p, HW_COLUMN, text(" (capable of %.*s x%u)",
					     (int)strcspn(c->max_speed, "P") - 1, c->max_speed,
					     c->max_width));
	if (c->node >= 0)
		hw_item(p, text("NUMA node %d", c->node));
	page_newline(p);
	if (*c->pf)
		row(p, "SR-IOV", text("a virtual function of %s%s%s", c->pf,
				      *c->pf_iface ? ", " : "", c->pf_iface));
	else if (c->max_vfs)
		row(p, "SR-IOV", text("the physical function, with %u of %u virtual functions",
				      c->vfs, c->max_vfs));
}

static const char *speed(const struct hw *h)
{
	unsigned long mbit = speed_of(&h->link);

	return !mbit ? "" : mbit < 1000 ? text("%lu Mbit/s", mbit) :
	       text("%g Gbit/s", mbit / 1000.);
}

static const char *pauses(const struct hw *h)
{
	bool rx = setting_of(&group_pause, &h->pause, "rx") > 0;
	bool tx = setting_of(&group_pause, &h->pause, "tx") > 0;

	if (h->pause.err)
		return "";
	if (rx && tx)
		return "pause frames both ways";
	return rx ? "pause frames received" : tx ? "pause frames sent" : "no pause frames";
}

static void link_row(struct page *p, const struct hw *h)
{
	const __u8 *mac = h->iface.mac;
	long long autoneg = setting_of(&group_link, &h->link, "autoneg");
	long long width = setting_of(&group_link, &h->link, "lanes");

	hw_key(p, "link");
	hw_item(p, !h->iface.up ? "down" : h->carrier ? "up" : "up, without a carrier");
	if (*h->card.subsystem) {	/* software devices report made-up link settings */
		hw_item(p, speed(h));
		hw_item(p, *hw_duplex(h) ? text("%s duplex", hw_duplex(h)) : "");
		hw_item(p, hw_port(h));
		hw_item(p, width > 0 ? text("%lld lanes", width) : "");
		hw_item(p, *speed(h) && autoneg >= 0 ?
			text("autonegotiation %s", autoneg ? "on" : "off") : "");
	}
	hw_item(p, *hw_fec(h) ? text("FEC %s", hw_fec(h)) : "");
	hw_item(p, pauses(h));
	hw_item(p, text("MTU %u", h->iface.mtu));
	if (mac[7] == 6)
		hw_item(p, text("%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
				mac[3], mac[4], mac[5]));
	page_newline(p);
}

/* "rx 256 of 4096", "adaptive-rx on", "rx-usecs 3"; "": not shown. */
static const char *setting_text(const struct setting_group *g, const struct settings *s, unsigned i)
{
	const char *name = g->list[i].name;
	long long value = s->value[i], most = setting_of(g, s, text("%s-max", name));

	if (value == NOT_TOLD || (strlen(name) > 4 && !strcmp(name + strlen(name) - 4, "-max")))
		return "";
	if (!strcmp(name, "tcp-data-split"))
		return value ? text("%s %s", name, value == 2 ? "on" : "off") : "";
	if (g->list[i].kind == SETTING_FLAG)
		return text("%s %s", name, value ? "on" : "off");
	if (!value && (most == 0 || (g == &group_coalesce && i >= BASIC)))
		return "";
	return most > 0 ? text("%s %lld of %lld", name, value, most) : text("%s %lld", name, value);
}

static void settings_row(struct page *p, const struct setting_group *g, const struct settings *s)
{
	for (unsigned i = 0; !s->err && i < g->nr; i++) {
		const char *what = setting_text(g, s, i);

		if (*what && !p->at)
			hw_key(p, g->name);
		hw_item(p, what);
	}
	page_end(p);
}

/* One line per reason. */
static void absent(struct page *p, const struct hw *h)
{
	bool first = true;

	for (unsigned i = 0; i < h->nr_notes; i++) {
		const struct hw_note *n = &h->notes[i];
		bool said = false;

		for (unsigned k = 0; k < i; k++)
			said |= !strcmp(h->notes[k].why, n->why);
		if (said)
			continue;
		hw_key(p, first ? "absent" : "");
		for (unsigned k = i; k < h->nr_notes; k++)
			if (!strcmp(h->notes[k].why, n->why))
				hw_item(p, h->notes[k].of);
		page_wrap(p, HW_COLUMN, ": ");
		page_wrap(p, HW_COLUMN, n->why);
		page_newline(p);
		first = false;
	}
}

/* How interrupts and NAPI instances were matched to queues. */
static void matched(struct page *p, const struct hw *h)
{
	static const char *const by[] = {
		[QUEUES_BY_NETDEV] = "as the driver reports (netdev-genl)",
		[QUEUES_BY_NAME] = "by name", [QUEUES_BY_RANK] = "by order",
	};
	ONE_EACH(by, NR_QUEUES_BY);
	const char *how = h->by == QUEUES_BY_NAME ? h->driver->irqs_how : NULL;

	if (!h->by && !h->napi_by)
		return;
	hw_key(p, "matched");
	if (h->by)
		hw_item(p, text("interrupts %s%s%s", by[h->by], how ? "; " : "", how ?: ""));
	if (h->napi_by)
		hw_item(p, text("NAPI %s", by[h->napi_by]));
	page_newline(p);
}

/* "XDP native \"drop_all\" (id 77)" */
static void program(struct page *p, const struct hw_program *prog)
{
	static const char *const at[] = {
		[HOOK_XDP_NATIVE] = "XDP native", [HOOK_XDP_GENERIC] = "XDP generic",
		[HOOK_XDP_OFFLOADED] = "XDP in the card", [HOOK_XDP_DISPATCHED] = "XDP dispatched",
		[HOOK_TCX_INGRESS] = "tcx ingress", [HOOK_TCX_EGRESS] = "tcx egress",
		[HOOK_TC_INGRESS] = "tc filter at ingress",
		[HOOK_TC_EGRESS] = "tc filter at egress",
	};
	ONE_EACH(at, NR_HOOKS);
	const char *name = *prog->name ? text(" \"%s\"", prog->name) : "";

	hw_item(p, text("%s%s (id %u%s)", at[prog->hook], name, prog->id,
		       prog->own ? ", nicprobe's own" : ""));
}

static void programs(struct page *p, const struct hw_above *a)
{
	static const char *const way[] = { "ingress", "egress" };

	hw_key(p, "programs");
	for (unsigned i = 0; i < a->nr; i++)
		program(p, &a->programs[i]);
	for (unsigned i = 0; i < 2; i++) {
		unsigned others = a->filters[i];

		for (unsigned k = 0; k < a->nr && others; k++)
			others -= a->programs[k].hook == HOOK_TC_INGRESS + i;
		if (others)
			hw_item(p, text("%u tc filter%s without BPF at %s", others,
					others == 1 ? "" : "s", way[i]));
	}
	hw_item(p, p->at > HW_COLUMN ? "" : "none");
	page_newline(p);
}

static void above(struct page *p, const struct hw_above *a)
{
	const struct hw_device *m = &a->master;

	programs(p, a);
	if (*a->qdisc)
		hw_key(p, "qdisc");
	hw_item(p, a->qdisc);
	for (unsigned i = 0; *a->qdisc && i < a->nr_beneath; i++)
		hw_item(p, text("%s%u %s", i ? "" : "beneath it ", a->beneath[i].nr,
				a->beneath[i].kind));
	page_end(p);
	row(p, "master", *m->kind ? text("%s, a %s", m->name, m->kind) : m->name);
	for (unsigned i = 0; i < a->nr_stacked; i++) {
		const struct hw_device *d = &a->stacked[i];

		if (!i)
			hw_key(p, "stacked");
		hw_item(p, *d->kind ? text("%s (%s)", d->name, d->kind) : d->name);
	}
	page_end(p);
}

/* "xdpsock (pid 12, zero-copy)" */
static void socket_words(const struct xsk *x, char *words, size_t size)
{
	const char *mode = x->zero_copy ? "zero-copy" : "copy";
	struct holder h;

	if (holder_find(x->inode, &h))
		snprintf(words, size, "%s (pid %d, %s)", h.name, h.pid, mode);
	else
		snprintf(words, size, "socket %u (uid %u, %s)", x->inode, x->uid, mode);
}

/* Consecutive queues of a process share an item: "queues 0..3: xdpsock (pid 12, copy)". */
static void sockets(struct page *p, const struct xsks *all)
{
	const struct xsk *end = all->list + all->nr, *last;
	char words[64], next[64];

	if (all->nr)
		hw_key(p, "AF_XDP");
	for (const struct xsk *x = all->list; x < end; x = last + 1) {
		socket_words(x, words, sizeof(words));
		for (last = x; last + 1 < end && last[1].queue == last->queue + 1; last++) {
			socket_words(last + 1, next, sizeof(next));
			if (strcmp(words, next))
				break;
		}
		hw_item(p, last == x ? text("queue %u: %s", x->queue, words) :
		  text("queues %u..%u: %s", x->queue, last->queue, words));
	}
	page_end(p);
}

void hw_table(struct page *p, const struct hw *h)
{
	page_section(p, "hw", "the card, its driver and their settings; queues, interrupts and "
		     "CPUs");
	page_newline(p);
	driver(p, h);
	card(p, h);
	link_row(p, h);
	above(p, &h->above);
	sockets(p, &h->xsks);
	settings_row(p, &group_channels, &h->channels);
	settings_row(p, &group_rings, &h->rings);
	settings_row(p, &group_coalesce, &h->coalesce);
	hw_steering_table(p, h);
	matched(p, h);
	absent(p, h);
	hw_queues_table(p, h);
}
