/* SPDX-License-Identifier: GPL-2.0 */
/* The findings of a report: what is wrong, the picture that proves it, and what helps. */
#include <string.h>

#include "lib/util/log.h"
#include "render/findings.h"
#include "render/units.h"
#include "report/html.h"
#include "report/report.h"

static void commands_put(FILE *out, const struct snapshot *s, const struct finding *f)
{
	char line[4 * FIX_ROOM];

	if (!f->nr_fixes && !*f->advice)
		return;
	html(out, "<p class=\"try\"><b>Try</b>%s%s", *f->advice ? ": " : "", f->advice);
	html(out, *f->changes ? " <span class=\"note\">(%s)</span></p>\n" : "%s</p>\n", f->changes);
	if (!f->nr_fixes)
		return;
	fputs("<pre tabindex=\"0\"><code>", out);
	for (unsigned i = 0; i < f->nr_fixes; i++) {
		fix_shell(s, f, i, line, sizeof(line));
		html(out, "%s\n", line);
	}
	fputs("</code></pre>\n", out);
}

static void evidence_put(FILE *out, const struct finding *f)
{
	html(out, "<ul class=\"facts\"><li>cost: <b>%s</b></li>", harm_text(f));
	for (unsigned i = 0; i < f->nr_facts; i++)
		html(out, "<li>%s</li>", finding_fact_text(&f->facts[i]));
	fputs("</ul>\n", out);
}

/* What the kind means, for whoever does not know it. */
static void meaning_put(FILE *out, const struct finding *f)
{
	char when[700];

	kind_text(f->kind, f->kind->when, when, sizeof(when));
	html(out, "<details class=\"paper\"><summary>What %s means</summary><p>%s</p><p>It is said "
	     "when %s.</p><p>What helps: %s</p></details>\n", f->kind->id, f->kind->means, when,
	     f->kind->remedy);
}

static void proof_put(struct drawing d, const struct finding *f)
{
	const struct chart *h = course_proof(d.c, f);
	const struct spell *spell = course_spell(d.c, f);
	struct scale s = scale_of(h, NULL);

	d.f = f;
	if (h)
		chart_put(&d, h, &s);
	else
		fputs("<p class=\"note\">It rests on settings: there is no course of figures to "
		      "show.</p>\n", d.out);
	if (spell) {
		html(d.out, "<figure class=\"chart\"><figcaption><b>When it was there</b> <span "
		     "class=\"unit\">in %u of %u columns</span></figcaption>\n", spell->frames,
		     d.c->nr_slices);
		spell_put(&d, spell, h);
		fputs("</figure>\n", d.out);
	}
}

static void others_put(FILE *out, const struct findings *all, unsigned of)
{
	for (unsigned i = 0; i < all->nr; i++)
		if (all->list[i].under == (int)of)
			html(out, "<p class=\"also\">so also <code>%s</code>: %s</p>\n",
			     all->list[i].kind->id, all->list[i].what);
}

static void finding_put(struct drawing d, unsigned nr)
{
	const struct findings *all = &d.c->window.findings;
	const struct finding *f = &all->list[nr];

	html(d.out, "<article class=\"finding s%u\"><h3><span class=\"badge\">%s</span> "
	     "<code>%s</code> %s</h3>\n<p class=\"what\">%s%s</p>\n", (unsigned)f->severity,
	     severity_names[f->severity], f->kind->id, f->kind->title, f->what, f->others ?
	     text(" (and %u more queue%s)", f->others, f->others == 1 ? "" : "s") : "");
	evidence_put(d.out, f);
	others_put(d.out, all, nr);
	proof_put(d, f);
	commands_put(d.out, &d.c->window, f);
	meaning_put(d.out, f);
	fputs("</article>\n", d.out);
}

static void side_put(struct drawing d)
{
	const struct findings *all = &d.c->window.findings;

	for (unsigned i = 0; i < all->nr; i++)
		if (all->list[i].under < 0)
			finding_put(d, i);
	if (!all->nr)
		html(d.out, "<p class=\"well\">No findings: nothing that nicprobe knows to be "
		     "wrong was seen from %s to %s.</p>\n", clock_text(course_begin(d.c)),
		     clock_text(course_end(d.c)));
}

void report_findings(struct report *r, const struct pair *p)
{
	html(r->out, "<section id=\"i%u-findings\"><h2>%s: findings</h2>\n<div class=\"sides\">\n",
	     p->nr, (p->c[0] ?: p->c[1])->name);
	for (unsigned side = 0; side < r->nr_files; side++) {
		side_begin(r, p, side);
		if (p->c[side])
			side_put(drawing_of(r, p, side));
		side_end(r);
	}
	fputs("</div></section>\n", r->out);
}

/* The worst of them in a line; the first thing that is read. */
static void verdict_put(FILE *out, const struct pair *p, const struct course *c)
{
	const struct findings *all = &c->window.findings;
	unsigned nr = findings_count(all, SEVERITY_INFO);
	bool any = false;

	for (unsigned i = 0; i < all->nr; i++) {
		const struct finding *f = &all->list[i];

		if (f->under >= 0)
			continue;
		html(out, "<p class=\"verdict s%u\"><span class=\"badge\">%s</span> <span><a "
		     "href=\"#i%u-findings\"><code>%s</code></a> %s</span></p>\n",
		     (unsigned)f->severity, severity_names[f->severity], p->nr, f->kind->id,
		     f->what);
		any = true;
		if (nr > 6 && i >= 4) {
			html(out, "<p class=\"note\">and %u more below</p>\n", nr - i - 1);
			break;
		}
	}
	if (!any)
		fputs("<p class=\"verdict ok\"><span class=\"badge\">no findings</span> <span>"
		      "Nothing that nicprobe knows to be wrong was seen.</span></p>\n", out);
}

static void number_put(FILE *out, const char *name, double value, const char *unit)
{
	char is[UNITS_SIZE] = "-";

	if (!isnan(value))
		units_count(is, value);
	html(out, "<div><dt>%s</dt><dd>%s <span class=\"unit\">%s</span></dd></div>", name, is,
	     isnan(value) ? "not measured" : unit);
}

static void summary_put(struct report *r, const struct pair *p, unsigned side)
{
	const struct course *c = p->c[side];
	char time[UNITS_SIZE], each[UNITS_SIZE];

	units_duration(time, c->seconds);
	units_seconds(each, (course_end(c) - course_begin(c)) * 1e-9 / c->nr_slices);
	html(r->out, "<p class=\"heading\">%s</p>\n", c->heading);
	if (*c->window.state)
		html(r->out, "<p class=\"note\"><b>%s</b></p>\n", c->window.state);
	verdict_put(r->out, p, c);
	fputs("<dl class=\"tiles\">", r->out);
	number_put(r->out, "received", c->received, "packets/s");
	number_put(r->out, "sent", c->sent, "packets/s");
	number_put(r->out, "dropped", c->dropped, "packets/s");
	if (!isnan(c->cost))
		number_put(r->out, "measuring takes", c->cost, "% of a CPU");
	html(r->out, "</dl>\n<p class=\"note\">%s from %s to %s. A column of the charts is %s%s."
	     "</p>\n", time, clock_text(course_begin(c)), clock_text(course_end(c)), c->steps > 1 ?
	     text("%s, of up to %u frames: rates are the mean of it, and \"at most\" is its "
		  "highest frame", each, c->steps) :
	     text("one frame, %s on average", each), c->earlier ?
	     text("; %u earlier frames are of another run: nicprobe show --from shows them",
		  c->earlier) : "");
}

void report_summary(struct report *r, const struct pair *p)
{
	html(r->out, "<section id=\"i%u\" class=\"summary\"><h2>%s</h2>\n<div class=\"sides\">\n",
	     p->nr, (p->c[0] ?: p->c[1])->name);
	for (unsigned side = 0; side < r->nr_files; side++) {
		side_begin(r, p, side);
		if (p->c[side])
			summary_put(r, p, side);
		side_end(r);
	}
	fputs("</div></section>\n", r->out);
}
