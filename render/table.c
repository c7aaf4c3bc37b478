/* SPDX-License-Identifier: GPL-2.0 */
/* The format table: one block per meter, as wide as the terminal. */
#include <string.h>

#include "lib/util/log.h"
#include "render/block.h"
#include "render/findings.h"
#include "render/glance.h"
#include "render/hw/hw.h"
#include "render/sampled.h"
#include "render/table.h"
#include "render/units.h"

#define NARROWEST 24	/* narrower terminals cut lines off */

const char *target_text(const struct meta *meta)
{
	if (meta->host)
		return "sockets and neighbours of this network namespace";
	if (meta->down)
		return text("%s, down: queues in use are unknown until it is up", meta->driver);
	return text("%s, %u rx and %u tx queue%s", meta->driver, meta->rx_queues, meta->tx_queues,
		    meta->rx_queues + meta->tx_queues > 2 ? "s" : "");
}

void table_heading(struct page *p, const struct snapshot *s)
{
	char time[UNITS_SIZE];

	if (s->interval)
		units_seconds(time, s->seconds);
	else
		units_duration(time, s->seconds);
	page_styled(p, STYLE_BOLD, s->name);
	page_spaces(p, 2);
	page_wrap(p, 2, *s->meta.iface ? target_text(&s->meta) : "the driver");
	if (measured(s))
		page_wrap(p, 2, text(", %s %s%s", s->counts ? "over" : s->interval ?
				     "in the last" : "attached", time, s->interval ? "" : " ago"));
	if (sampled_rule(&s->meta))
		page_wrap(p, 2, text(", %s", sampled_rule(&s->meta)));
	page_newline(p);
	if (!s->state[0])
		return;
	page_style(p, STYLE_BOLD);
	page_wrap(p, 2, s->state);
	page_style(p, STYLE_PLAIN);
	page_newline(p);
}

/* "  rx-nic xdp, rx-stack tcx, …": no line break between a point and its hook. */
static void packet_hooks(struct page *p, const struct snapshot *s)
{
	for (unsigned i = 0; i < NR_POINTS; i++) {
		unsigned need = strlen(point_names[i]) + 1 + text_columns(s->meta.hook[i]) + 1;

		if (!s->meta.hook[i][0])
			continue;
		if (p->at)
			page_put(p, ",", 1);
		if (p->at && p->at + need + 1 > p->width)
			page_newline(p);
		page_spaces(p, p->at ? 1 : 2);
		page_styled(p, STYLE_DIM, point_names[i]);
		page_spaces(p, 1);
		page_put(p, s->meta.hook[i], -1);
	}
	page_end(p);
}

void table_blind(struct page *p, const struct snapshot *s)
{
	for (unsigned i = 0; i < NR_POINTS; i++) {
		if (!*s->blind[i])
			continue;
		page_spaces(p, 2);
		page_styled(p, STYLE_BOLD, point_names[i]);
		page_wrap(p, 2, text(" is blind: %s", s->blind[i]));
		page_newline(p);
	}
}

/* One line for all meters without counts: "no activity yet: xdp, pool". */
static void nothing(struct page *p, const struct snapshot *s, uint64_t silent, bool apart)
{
	if (!silent)
		return;
	if (apart)
		page_newline(p);
	page_put(p, s->interval ? "no activity:" : "no activity yet:", -1);
	for (unsigned id = 0; id < NR_METERS; id++)
		if (silent >> id & 1)
			page_wrap(p, 2, text(" %s%s", meters[id]->name,
					     silent >> id > 1 ? "," : ""));
	page_newline(p);
}

static void absent(struct page *p, const char *no, const char *name, const char *why)
{
	if (!why)
		return;
	page_wrap(p, 2, no);
	page_styled(p, STYLE_BOLD, name);
	page_put(p, ": ", -1);
	page_wrap(p, 2, why);
	page_newline(p);
}

/* The remark of a meter, unless it has no counts and is one of several meters. */
static const char *remark(const struct snapshot *s, unsigned id, uint64_t silent)
{
	return silent >> id & 1 && *s->meta.iface ? NULL : meter_remark(s, id);
}

static void all_absent(struct page *p, const struct snapshot *s, uint64_t silent)
{
	bool any = false;

	for (unsigned i = 0; i < NR_POINTS; i++)
		any |= point_absent(s, i) != NULL;
	for (unsigned id = 0; id < NR_METERS; id++)
		any |= meter_absent(s, id) || remark(s, id, silent);
	if (!any)
		return;
	page_newline(p);
	for (unsigned i = 0; i < NR_POINTS; i++)
		absent(p, "no ", point_names[i], point_absent(s, i));
	for (unsigned id = 0; id < NR_METERS; id++)
		absent(p, "no ", meters[id]->name, meter_absent(s, id));
	for (unsigned id = 0; id < NR_METERS; id++)
		absent(p, "", meters[id]->name, remark(s, id, silent));
}

static void lost(struct page *p, const char *of, const char *name, uint64_t nr)
{
	char count[UNITS_SIZE];

	if (!nr)
		return;
	units_count(count, nr);
	if (!p->at)
		page_newline(p);
	page_wrap(p, 2, text("%s %s %s%s", p->at ? "," : "lost:", count, of, name));
}

/* The total count of a meter's main metric. */
static uint64_t counted(const struct snapshot *s, unsigned id)
{
	const struct table *t = &s->tables[id];
	uint64_t n = 0;

	for (unsigned row = 0; t->cells && row < t->rows; row++)
		for (unsigned cpu = 0; cpu < t->cpus; cpu++)
			if (!row_idle(meters[id], t, row, cpu))
				n += row_weight(meters[id], row_words(t, row, cpu));
	return n;
}

/*
 * "undercounted: drop by up to 14.78k events (1.48%)": the kernel skips a program that is already
 * running on the CPU.
 */
static void may_lack(struct page *p, const char *name, uint64_t nr, uint64_t of)
{
	char count[UNITS_SIZE], share[32] = "";

	if (!nr)
		return;
	units_count(count, nr);
	if (of)
		snprintf(share, sizeof(share), " (%.2g%%)", 100. * nr / (nr + of));
	if (!p->at)
		page_newline(p);
	page_wrap(p, 2, text("%s %s by up to %s events%s", p->at ? "," : "undercounted:", name,
			     count, share));
}

void table_losses(struct page *p, const struct snapshot *s)
{
	for (unsigned id = 0; id < NR_METERS; id++)
		if (meter_shown(s, id))
			lost(p, "counts of ", meters[id]->name, s->lost[id]);
	lost(p, "", "events", s->missed_nobodys);
	page_end(p);
	for (unsigned i = 0; i < NR_POINTS; i++)
		may_lack(p, point_names[i], s->missed_point[i], point_packets(s, i));
	for (unsigned id = 0; id < NR_METERS; id++)
		if (meter_shown(s, id))
			may_lack(p, meters[id]->name, s->missed_meter[id], counted(s, id));
	page_end(p);
	if (s->missed_hidden) {
		page_newline(p);
		page_dim(p, 0, "missed events: unknown without root");
	}
}

/* Findings come first: they are what most users look for. */
static void found(struct page *p, const struct snapshot *s)
{
	if (!s->findings.nr && !measured(s))
		return;
	page_newline(p);
	if (!s->findings.nr)
		page_dim(p, 0, "no findings");
	findings_table(p, s);
}

static void one(FILE *out, const struct snapshot *s, const struct look *look)
{
	unsigned width = look->width < NARROWEST ? NARROWEST : look->width;
	struct page p = { .out = out, .look = look, .width = width };
	uint64_t silent = 0, shown = 0;

	table_heading(&p, s);
	packet_hooks(&p, s);
	table_blind(&p, s);
	found(&p, s);
	if (s->hw)
		hw_table(&p, s->hw);
	if (look->brief && measured(s))
		page_newline(&p);
	for (unsigned id = 0; id < NR_METERS; id++) {
		/* a line each cannot tell them apart: their sums are in the ledger */
		if (!meter_shown(s, id) || (look->brief && meters[id]->layout == LAYOUT_ACROSS))
			continue;
		*((look->brief ? glance : block)(&p, s, meters[id]) ? &shown : &silent) |=
			1ull << id;
	}
	nothing(&p, s, silent, shown || !(look->brief && measured(s)));
	if (!look->brief)
		all_absent(&p, s, silent);
	table_losses(&p, s);
	page_newline(&p);	/* before the next interface, or the next interval */
}

const struct renderer renderer_table = {
	.name = "table",
	.help = "tables as wide as the terminal",
	.one = one,
};
