/* SPDX-License-Identifier: GPL-2.0 */
/* Heat maps: time across, a line for each queue, key or finding, and a legend. */
#include <string.h>

#include "lib/util/log.h"
#include "render/units.h"
#include "report/draw.h"
#include "report/html.h"

#define LABEL_HIGH	13	/* pixels that the name of a line needs */
#define SEAM		10	/* units that a cell reaches into the next: no gap shows between */

static unsigned row_height(unsigned rows)
{
	return rows <= 12 ? 18 : rows <= 24 ? 14 : rows <= 40 ? 8 : rows <= 128 ? 5 : 3;
}

/* Names of every so many lines, as there is room for. */
static void names_put(const struct drawing *d, const struct chart *h, unsigned high)
{
	unsigned each = (LABEL_HIGH + high - 1) / high;

	html(d->out, "<div class=\"y\" aria-hidden=\"true\" style=\"grid-auto-rows:%upx\">",
	     each * high);
	for (unsigned i = 0; i < h->nr; i += each) {
		const struct track *t = &h->tracks[i];

		fputs(course_meant(d->c, d->f, t) ? "<span class=\"hot\"" : "<span", d->out);
		html(d->out, " title=\"%s\">%s</span>", t->label, t->label);
	}
	fputs("</div>\n", d->out);
}

/* Where and when most was. */
static const char *shows(const struct drawing *d, const struct chart *h)
{
	const struct track *most = NULL;
	unsigned at = 0;

	for (unsigned i = 0; i < h->nr; i++)
		for (unsigned k = 0; k < h->slices; k++)
			if (h->tracks[i].mean[k] > (most ? most->mean[at] : 0)) {
				most = &h->tracks[i];
				at = k;
			}
	return text("%u lines from %s to %s%s", h->nr, clock_text(course_begin(d->c)),
		    clock_text(course_end(d->c)), !most ? "" :
		    text("; the highest: %s at %s, %s", most->label,
			 clock_text(d->c->slices[at].begin), value_text(h, most->mean[at])));
}

static void cell_put(const struct drawing *d, const struct chart *h, const struct scale *s,
		     unsigned row, unsigned slice)
{
	const struct track *t = &h->tracks[row];
	const struct slice *when = &d->c->slices[slice];
	unsigned level = scale_level(s, t->mean[slice]), from = x_of(d->c, when->begin);

	if (!level)
		return;
	html(d->out, "<path class=\"c%u\" d=\"M%u %uh%u\"><title>%s %s: %s</title></path>\n",
	     level, from, row, x_of(d->c, when->end) - from + SEAM, t->label,
	     clock_text(when->begin), mean_text(d->c, h, t, slice));
}

/* From which value on each colour is. */
static void legend_put(const struct drawing *d, const struct chart *h, const struct scale *s)
{
	double ends[LEVELS + 1];

	for (unsigned i = 0; i <= LEVELS; i++)
		ends[i] = s->log ? s->least * pow(s->most / s->least, (double)i / LEVELS) :
			  s->least + (s->most - s->least) * i / LEVELS;
	html(d->out, "<p class=\"legend\"><span>%s</span><span class=\"ramp\" "
	     "aria-hidden=\"true\">", s->log ? value_text(h, s->least) : "0");
	for (unsigned i = 0; i < LEVELS; i++)
		html(d->out, "<i class=\"b%u\" title=\"%s to %s\"></i>", i + 1,
		     ends[i] > 0 ? value_text(h, ends[i]) : "0", value_text(h, ends[i + 1]));
	html(d->out, "</span><span>%s</span></p>\n", value_text(h, s->most));
}

void heat_put(const struct drawing *d, const struct chart *h, const struct scale *s)
{
	unsigned high = row_height(h->nr);

	fputs(h->tracks[0].key ? "<div class=\"plot keys\">\n" : "<div class=\"plot\">\n", d->out);
	names_put(d, h, high);
	image_begin(d, h->title, shows(d, h), h->nr, h->nr * high);
	fputs("<g transform=\"translate(0 .5)\" class=\"cells\">\n", d->out);
	for (unsigned i = 0; i < h->nr; i++) {
		if (course_meant(d->c, d->f, &h->tracks[i]))
			html(d->out, "<path class=\"hot\" d=\"M0 %uh%u\"/>", i, X_WIDE);
		for (unsigned k = 0; k < d->c->nr_slices; k++)
			cell_put(d, h, s, i, k);
	}
	fputs("</g>\n", d->out);
	image_end(d, h->nr);
	fputs("</div>\n", d->out);
	legend_put(d, h, s);
}

static const char *harm_of(const struct finding_kind *kind, double harm)
{
	char is[UNITS_SIZE];

	units_any(is, harm, harm_units[kind->harm]);
	return kind->harm == HARM_WAIT ? text("%s waited", is) :
	       text("%s %s", is, harm_units[kind->harm]);
}

static void spell_row(const struct drawing *d, const struct spell *s, unsigned row)
{
	for (unsigned k = 0; k < d->c->nr_slices; k++) {
		const struct slice *when = &d->c->slices[k];
		unsigned from = x_of(d->c, when->begin);

		if (!isnan(s->harm[k]))
			html(d->out, "<path class=\"s%u\" d=\"M%u %uh%u\"><title>%s %s: %s</title>"
			     "</path>\n", (unsigned)s->kind->severity, from, row,
			     x_of(d->c, when->end) - from + SEAM, s->kind->id,
			     clock_text(when->begin), harm_of(s->kind, s->harm[k]));
	}
}

static void spells_draw(const struct drawing *d, const struct spell *list, unsigned nr,
			bool keys)
{
	unsigned high = row_height(nr);

	html(d->out, "<div class=\"plot%s\">\n<div class=\"y\" aria-hidden=\"true\" "
	     "style=\"grid-auto-rows:%upx\">", keys ? " keys" : "", high);
	for (unsigned i = 0; i < nr; i++)
		html(d->out, "<span title=\"%s\">%s</span>", list[i].kind->id, nr > 1 ||
		     keys ? list[i].kind->id : "found");
	fputs("</div>\n", d->out);
	image_begin(d, nr > 1 ? "When each finding was there" : text("When %s was there",
		    list->kind->id), text("%u of %u columns from %s to %s", list->frames,
		    d->c->nr_slices, clock_text(course_begin(d->c)), clock_text(course_end(d->c))),
		    nr, nr * high);
	fputs("<g transform=\"translate(0 .5)\" class=\"cells\">\n", d->out);
	for (unsigned i = 0; i < nr; i++)
		spell_row(d, &list[i], i);
	fputs("</g>\n", d->out);
	image_end(d, nr);
	fputs("</div>\n", d->out);
}

void spells_put(const struct drawing *d)
{
	spells_draw(d, d->c->spells, d->c->nr_spells, true);
}

void spell_put(const struct drawing *d, const struct spell *s, const struct chart *above)
{
	spells_draw(d, s, 1, above && above->tracks[0].key && !is_lines(above));
}
