/* SPDX-License-Identifier: GPL-2.0 */
/* Two files: which figures differ by more than noise. Each column of the charts is a round. */
#include <stdlib.h>
#include <string.h>

#include "lib/util/grow.h"
#include "lib/util/log.h"
#include "report/html.h"
#include "report/report.h"
#include "trial/stats/against.h"
#include "trial/stats/said.h"

#define TRACKS_COMPARED	16	/* with more lines only their sum is compared */

/* One figure of two charts: a line, or the sum of all. */
struct figure_pair {
	const struct chart *h[2];
	int track[2];			/* -1: the sum; -2: it has none */
};

static unsigned rounds_of(const struct chart *h, int track, double list[ROUNDS_MAX])
{
	unsigned nr = h ? h->slices : 0;

	nr = nr < ROUNDS_MAX ? nr : ROUNDS_MAX;
	for (unsigned k = 0; k < nr; k++) {
		list[k] = track >= 0 ? h->tracks[track].mean[k] : 0;
		for (unsigned i = 0; track == -1 && i < h->nr; i++)
			list[k] += h->tracks[i].mean[k];
	}
	return nr;
}

static int track_like(const struct chart *h, const struct track *t)
{
	for (unsigned i = 0; h && i < h->nr; i++)
		if (!strcmp(h->tracks[i].label, t->label))
			return i;
	return -2;
}

static bool figure_add(struct differing *g, struct figure_pair **list, struct figure_pair one)
{
	struct figure_pair *more = grow(*list, g->nr, sizeof(*more));

	if (!more)
		return false;
	*list = more;
	more[g->nr++] = one;
	return true;
}

/* Rows are also compared as a sum, if they are rates. */
static bool chart_add(struct differing *g, struct figure_pair **list, const struct chart *a,
		      const struct chart *b)
{
	const struct chart *h = a ?: b;
	bool lines = a && b && (h->of == OF_PERCENTILES || h->of == OF_LABELS ||
		     (a->nr <= TRACKS_COMPARED && b->nr <= TRACKS_COMPARED));
	bool good = true;

	if (h->of == OF_ROWS && h->rate)
		good = figure_add(g, list, (struct figure_pair){ { a, b }, { -1, -1 } });
	for (unsigned i = 0; good && lines && i < a->nr; i++)
		if (h->of != OF_ROWS || a->nr > 1)
			good = figure_add(g, list, (struct figure_pair){ { a, b }, {
					  i, track_like(b, &a->tracks[i]) } });
	for (unsigned i = 0; good && lines && i < b->nr; i++)
		if (track_like(a, &b->tracks[i]) < 0)
			good = figure_add(g, list, (struct figure_pair){ { a, b }, { -2, i } });
	return good;
}

static bool figures_find(struct differing *g, struct figure_pair **list, const struct pair *p)
{
	bool good = true;

	for (unsigned i = 0; good && i < p->c[0]->nr_charts; i++) {
		const struct chart *h = &p->c[0]->charts[i];

		if (h->nr)
			good = chart_add(g, list, h, chart_like(p->c[1], h));
	}
	for (unsigned i = 0; good && i < p->c[1]->nr_charts; i++) {
		const struct chart *h = &p->c[1]->charts[i];

		if (h->nr && !chart_like(p->c[0], h))
			good = chart_add(g, list, NULL, h);
	}
	return good;
}

static bool differs(const struct comparison *c)
{
	return c->verdict == VERDICT_REAL &&
	       fabs(comparison_percent(c, c->difference)) > AGAINST_TOLERANCE;
}

/* "txlat completion, percentiles: p99" */
static void name_of(const struct figure_pair *f, char *name, size_t size)
{
	const struct chart *h = f->h[0] ?: f->h[1];
	const struct track *t = f->track[0] >= 0 ? &f->h[0]->tracks[f->track[0]] :
				f->track[1] >= 0 ? &f->h[1]->tracks[f->track[1]] : NULL;

	snprintf(name, size, "%s, %s%s%s", meters[h->meter]->name, h->title, t ? ": " : ": all",
		 t ? t->label : "");
}

/* All figures together raise a false alarm with the probability that one trial may. */
static void compare(struct differing *g, const struct figure_pair *f, unsigned at)
{
	const struct chart *h = f->h[0] ?: f->h[1];
	double a[ROUNDS_MAX], b[ROUNDS_MAX];
	unsigned na = rounds_of(f->h[0], f->track[0], a), nb = rounds_of(f->h[1], f->track[1], b);
	struct comparison *c = &g->list[at].c;

	c->unit = h->unit;
	c->better = strcmp(h->unit, "seconds") ? 0 : -1;
	compare_unpaired(a, na, b, nb, TRIAL_ALPHA / g->nr, c);
	name_of(f, g->list[at].name, sizeof(g->list[at].name));
	g->list[at].h = h;
	g->few += c->verdict == VERDICT_FEW;
	g->differ += differs(c);
}

static int by_change(const void *one, const void *other)
{
	const struct comparison *a = &((const struct differing_figure *)one)->c;
	const struct comparison *b = &((const struct differing_figure *)other)->c;
	double x = fabs(comparison_percent(a, a->difference));
	double y = fabs(comparison_percent(b, b->difference));

	if (differs(a) != differs(b))
		return differs(b) - differs(a);
	return x < y ? 1 : x > y ? -1 : 0;
}

bool differing_find(struct differing *g, const struct pair *p)
{
	struct figure_pair *list = NULL;
	bool good = true;

	*g = (struct differing){};
	if (!p->c[0] || !p->c[1])
		return true;
	good = figures_find(g, &list, p);
	g->list = good ? calloc(g->nr + 1, sizeof(*g->list)) : NULL;
	good = g->list;
	for (unsigned i = 0; good && i < g->nr; i++)
		compare(g, &list[i], i);
	if (good)
		qsort(g->list, g->nr, sizeof(*g->list), by_change);
	free(list);
	return good;
}

void differing_free(struct differing *g)
{
	free(g->list);
	*g = (struct differing){};
}

/* What is not the same on both sides, and may be why. */
static void other_put(FILE *out, const char *what, const char *a, const char *b)
{
	if (strcmp(a, b))
		html(out, "<li>%s: A <b>%s</b>, B <b>%s</b></li>\n", what, *a ? a : "unknown",
		     *b ? b : "unknown");
}

static void circumstances(struct report *r, const struct pair *p)
{
	const struct run_about *a = &r->files[0].about, *b = &r->files[1].about;

	fputs("<ul>\n", r->out);
	other_put(r->out, "host", a->host, b->host);
	other_put(r->out, "kernel", a->kernel, b->kernel);
	other_put(r->out, "nicprobe", a->version, b->version);
	other_put(r->out, "interface", p->c[0]->name, p->c[1]->name);
	other_put(r->out, "driver, queues and hooks", p->c[0]->heading, p->c[1]->heading);
	fputs("</ul>\n", r->out);
}

static void row_put(FILE *out, const struct differing_figure *f)
{
	const struct comparison *c = &f->c;
	int good = comparison_good(c);

	html(out, "<tr><th scope=\"row\" class=\"w\">%s</th><td>%s</td><td>%s</td>", f->name,
	     value_text(f->h, c->a), value_text(f->h, c->b));
	html(out, "<td class=\"%s\">%s</td><td>%s to %s</td></tr>\n", good < 0 ? "worse" : good ?
	     "better" : "changed", said_difference(c, c->difference), said_difference(c, c->low),
	     said_difference(c, c->high));
}

void report_compare(struct report *r, const struct pair *p, const struct differing *g)
{
	html(r->out, "<section id=\"i%u-compare\"><h2>%s: what differs</h2>\n", p->nr,
	     (p->c[0] ?: p->c[1])->name);
	if (!p->c[0] || !p->c[1]) {
		html(r->out, "<p class=\"note\">It is in one of the files only.</p></section>\n");
		return;
	}
	circumstances(r, p);
	html(r->out, "<p class=\"%s\">%u of %u figures differ by more than noise and by more than "
	     "%u%%.%s</p>\n", g->differ ? "verdict s1" : "verdict ok", g->differ, g->nr,
	     AGAINST_TOLERANCE, g->few ? text(" Of %u too few columns are known to judge.",
					      g->few) : "");
	if (g->differ) {
		html(r->out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label="
		     "\"what differs\"><table><thead><tr><th scope=\"col\" class=\"l\">figure"
		     "</th><th scope=\"col\">A: %s</th><th scope=\"col\">B: %s</th><th "
		     "scope=\"col\">difference</th><th scope=\"col\">interval</th></tr></thead>"
		     "<tbody>\n", r->files[0].path, r->files[1].path);
		for (unsigned i = 0; i < g->differ; i++)
			row_put(r->out, &g->list[i]);
		fputs("</tbody></table></div>\n", r->out);
	}
	fputs("<p class=\"note\">Each column of the charts is a round; values are medians of "
	      "rounds. The intervals are those of Mann and Whitney's test, as in nicprobe bench "
	      "--against: all together miss a true value in at most 5% of comparisons.</p>\n"
	      "</section>\n", r->out);
}
