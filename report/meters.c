/* SPDX-License-Identifier: GPL-2.0 */
/* The course of a report: what happened when, and each meter with its charts and its tables. */
#include <string.h>

#include "report/html.h"
#include "report/report.h"

static void events_put(struct drawing d)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < d.a->nr_events; i++)
		nr += event_of(d.c, &d.a->events[i]);
	if (!nr)
		return;
	html(d.out, "<details class=\"paper\"><summary>%u event%s</summary><div class=\"scroll\" "
	     "tabindex=\"0\" role=\"region\" aria-label=\"events\"><table class=\"events\">"
	     "<thead><tr><th scope=\"col\" class=\"l\">time</th><th scope=\"col\" class=\"l\">"
	     "event</th><th scope=\"col\" class=\"l\">what</th></tr></thead><tbody>\n", nr,
	     nr == 1 ? "" : "s");
	for (unsigned i = 0; i < d.a->nr_events; i++) {
		const struct recorded_event *e = &d.a->events[i];

		if (event_of(d.c, e))
			html(d.out, "<tr><th scope=\"row\">%s</th><td class=\"l\">%s</td><td "
			     "class=\"l w\">%s</td></tr>\n", clock_text(e->when), e->kind, e->what);
	}
	fputs("</tbody></table></div></details>\n", d.out);
}

static void timeline_put(struct drawing d)
{
	bool marked = false;

	for (unsigned i = 0; i < d.a->nr_events; i++)
		marked |= event_marks(d.c, &d.a->events[i]);
	if (d.c->nr_spells) {
		fputs("<figure class=\"chart\"><figcaption><b>When each finding was there</b>"
		      "</figcaption>\n", d.out);
		spells_put(&d);
		fputs("</figure>\n", d.out);
	} else {
		fputs("<p class=\"note\">No finding at any time.</p>\n", d.out);
	}
	if (marked)
		fputs("<p class=\"legend\"><span><i class=\"kev\"></i>a change of a setting or of "
		      "the link, when it was noticed"
		      "</span></p>\n", d.out);
	events_put(d);
}

void report_timeline(struct report *r, const struct pair *p)
{
	html(r->out, "<section id=\"i%u-time\"><h2>%s: what happened when</h2>\n<div "
	     "class=\"sides\">\n", p->nr, (p->c[0] ?: p->c[1])->name);
	for (unsigned side = 0; side < r->nr_files; side++) {
		side_begin(r, p, side);
		if (p->c[side])
			timeline_put(drawing_of(r, p, side));
		side_end(r);
	}
	fputs("</div></section>\n", r->out);
}

const struct chart *chart_like(const struct course *c, const struct chart *h)
{
	for (unsigned i = 0; c && i < c->nr_charts; i++) {
		const struct chart *one = &c->charts[i];

		if (one->of == h->of && one->meter == h->meter && one->point == h->point &&
		    one->metric == h->metric && !strcmp(one->unit, h->unit))
			return one;
	}
	return NULL;
}

/* A chart, beside the same of the other file, to one scale. */
static void charts_put(struct report *r, const struct pair *p, const struct chart *a,
		       const struct chart *b)
{
	const struct chart *h = a ?: b;
	struct scale s = scale_of(a, b);

	fputs(h->tracks[0].key && !is_lines(h) ? "<div class=\"sides wide\">\n" :
	      "<div class=\"sides\">\n", r->out);
	for (unsigned side = 0; side < r->nr_files; side++) {
		struct drawing d = drawing_of(r, p, side);

		h = side ? b : a;
		side_begin(r, p, side);
		if (h && h->nr)
			chart_put(&d, h, &s);
		else if (d.c)
			html(r->out, "<p class=\"note\">%s: nothing was counted.</p>\n",
			     (a ?: b)->title);
		side_end(r);
	}
	fputs("</div>\n", r->out);
}

static bool has_meter(const struct course *c, int id)
{
	if (c && c->tables[id])
		return true;
	for (unsigned i = 0; c && i < c->nr_charts; i++)
		if (c->charts[i].meter == id)
			return true;
	return false;
}

bool meter_reported(const struct pair *p, int id)
{
	return has_meter(p->c[0], id) || has_meter(p->c[1], id);
}

/* Charts that say less, which are folded with the tables. */
static bool is_minor(const struct chart *h)
{
	return h->of == OF_COUNTERS || h->of == OF_LEVELS;
}

static void meter_charts(struct report *r, const struct pair *p, int id, bool minor)
{
	fputs("<div class=\"charts\">\n", r->out);
	for (unsigned side = 0; side < r->nr_files; side++)
		for (unsigned i = 0; p->c[side] && i < p->c[side]->nr_charts; i++) {
			const struct chart *h = &p->c[side]->charts[i];
			const struct chart *other = chart_like(p->c[!side], h);

			if (h->meter == id && h->nr && is_minor(h) == minor && !(side && other))
				charts_put(r, p, side ? NULL : h, side ? h : other);
		}
	fputs("</div>\n", r->out);
}

static bool any_minor(const struct course *c, int id)
{
	for (unsigned i = 0; c && i < c->nr_charts; i++)
		if (c->charts[i].meter == id && is_minor(&c->charts[i]))
			return true;
	return false;
}

/* What is folded: further charts, and the tables. */
static void more_put(struct report *r, const struct pair *p, int id)
{
	bool tables = (p->c[0] && p->c[0]->tables[id]) || (p->c[1] && p->c[1]->tables[id]);
	bool minor = any_minor(p->c[0], id) || any_minor(p->c[1], id);

	if (!tables && !minor)
		return;
	html(r->out, "<details><summary>%s</summary>\n", minor ? "Further charts, and the numbers"
	     : "The numbers");
	if (minor)
		meter_charts(r, p, id, true);
	fputs("<div class=\"sides\">", r->out);
	for (unsigned side = 0; side < r->nr_files; side++) {
		side_begin(r, p, side);
		if (p->c[side] && p->c[side]->tables[id])
			fputs(p->c[side]->tables[id], r->out);
		side_end(r);
	}
	fputs("</div></details>\n", r->out);
}

static void meter_put(struct report *r, const struct pair *p, int id)
{
	html(r->out, "<section id=\"i%u-%s\" class=\"meter\"><h3><code>%s</code> %s</h3>\n", p->nr,
	     meters[id]->name, meters[id]->name, meters[id]->help);
	for (unsigned side = 0; side < r->nr_files; side++)
		if (p->c[side] && *p->c[side]->sampled[id])
			html(r->out, "<p class=\"note\">%s</p>\n", p->c[side]->sampled[id]);
	meter_charts(r, p, id, false);
	more_put(r, p, id);
	fputs("</section>\n", r->out);
}

static void notes_put(struct report *r, const struct pair *p)
{
	bool any = false;

	for (unsigned side = 0; side < r->nr_files; side++)
		any |= p->c[side] && p->c[side]->notes;
	if (!any)
		return;
	html(r->out, "<section id=\"i%u-notes\"><h3>What is not measured, or not in full</h3>\n"
	     "<div class=\"sides\">\n", p->nr);
	for (unsigned side = 0; side < r->nr_files; side++) {
		side_begin(r, p, side);
		if (p->c[side] && p->c[side]->notes)
			fputs(p->c[side]->notes, r->out);
		side_end(r);
	}
	fputs("</div></section>\n", r->out);
}

void report_meters(struct report *r, const struct pair *p)
{
	html(r->out, "<h2>%s: meters</h2>\n", (p->c[0] ?: p->c[1])->name);
	for (int id = 0; id < NR_METERS; id++)
		if (meter_reported(p, id))
			meter_put(r, p, id);
	notes_put(r, p);
}
