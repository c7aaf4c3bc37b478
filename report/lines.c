/* SPDX-License-Identifier: GPL-2.0 */
/* Lines over time: percentiles, levels, and charts of a single line. */
#include <string.h>

#include "lib/util/log.h"
#include "report/draw.h"
#include "report/html.h"

#define HIGH	1000		/* units of a drawing from bottom to top */
#define PIXELS	120
#define COLOURS	4		/* classes l0 to l3 */

static unsigned y_of(const struct scale *s, double value)
{
	return HIGH - scale_place(s, value) * (HIGH - 40) - 10;
}

/* 1, 2, 2.5 or 5 times a power of ten. */
static double round_step(double least)
{
	double power = pow(10, floor(log10(least))), x = least / power;

	return power * (x <= 1 ? 1 : x <= 2 ? 2 : x <= 2.5 ? 2.5 : x <= 5 ? 5 : 10);
}

/* The values that are written beside the lines. */
static unsigned ticks(const struct scale *s, double list[8])
{
	double step = round_step((s->most - s->least) / 4), from = ceil(log10(s->least ?: 1));
	double each = ceil((log10(s->most) - from + 1) / 5);
	unsigned nr = 0;

	if (s->log)
		for (double x = from; pow(10, x) <= s->most && nr < 8; x += each < 1 ? 1 : each)
			list[nr++] = pow(10, x);
	else
		for (double x = 0; x <= s->most * 1.0001 && nr < 8; x += step)
			list[nr++] = x;
	return nr;
}

static void scale_put(const struct drawing *d, const struct chart *h, const struct scale *s)
{
	double at[8];
	unsigned nr = ticks(s, at);

	fputs("<div class=\"y v\" aria-hidden=\"true\">", d->out);
	for (unsigned i = 0; i < nr; i++) {
		const char *is = at[i] > 0 ? value_text(h, at[i]) : "0";

		html(d->out, "<span style=\"top:%.1f%%\">%s</span>", y_of(s, at[i]) * 100. / HIGH,
		     strcmp(h->unit, "seconds") && strcmp(h->unit, "bytes") && at[i] > 0 ?
		     text("%.*s", (int)strcspn(is, " "), is) : is);
	}
	fputs("</div>\n", d->out);
}

static void rules_put(const struct drawing *d, const struct scale *s)
{
	double at[8];
	unsigned nr = ticks(s, at);

	for (unsigned i = 0; i < nr; i++)
		html(d->out, "<path class=\"rule\" d=\"M0 %uh%u\"/>", y_of(s, at[i]), X_WIDE);
}

static unsigned middle(const struct course *c, unsigned slice)
{
	return (x_of(c, c->slices[slice].begin) + x_of(c, c->slices[slice].end)) / 2;
}

/* A line through the middles of the slices; where nothing is known it is interrupted. */
static void line_put(const struct drawing *d, const struct scale *s, const float *values,
		     const char *class)
{
	bool drawn = false;

	html(d->out, "<path class=\"%s\" d=\"", class);
	for (unsigned k = 0; k < d->c->nr_slices; k++) {
		bool known = !isnan(values[k]) && (!s->log || values[k] > 0);
		bool alone = known && !drawn && (k + 1 == d->c->nr_slices || isnan(values[k + 1]));

		if (known)
			html(d->out, "%c%u %u", drawn ? 'L' : 'M', middle(d->c, k),
			     y_of(s, values[k]));
		if (alone)
			fputs("h1", d->out);
		drawn = known;
	}
	fputs("\"/>\n", d->out);
}

static bool any_known(const struct chart *h, unsigned slice)
{
	for (unsigned i = 0; i < h->nr; i++)
		if (!isnan(h->tracks[i].mean[slice]))
			return true;
	return false;
}

/* Over each slice, what its numbers are. */
static void tell_put(const struct drawing *d, const struct chart *h)
{
	for (unsigned k = 0; k < d->c->nr_slices; k++) {
		const struct slice *when = &d->c->slices[k];
		unsigned from = x_of(d->c, when->begin);

		if (!any_known(h, k))
			continue;
		html(d->out, "<path class=\"tell\" d=\"M%u 0v%uh%uv-%uz\"><title>%s:", from, HIGH,
		     x_of(d->c, when->end) - from, HIGH, clock_text(when->begin));
		for (unsigned i = 0; i < h->nr; i++) {
			const struct track *t = &h->tracks[i];

			html(d->out, "%s %s %s", i ? "," : "", t->label, mean_text(d->c, h, t, k));
		}
		fputs("</title></path>\n", d->out);
	}
}

static const char *shows(const struct drawing *d, const struct chart *h)
{
	const char *all = "";

	for (unsigned i = 0; i < h->nr && i < COLOURS; i++)
		all = text("%s%s %.40s %s", all, i ? "," : "", h->tracks[i].label,
			   value_text(h, h->tracks[i].total));
	return text("from %s to %s; of all of it:%s", clock_text(course_begin(d->c)),
		    clock_text(course_end(d->c)), all);
}

/* Which line is which, and what it is of the whole window. */
static void key_put(const struct drawing *d, const struct chart *h, bool peaks)
{
	fputs("<p class=\"legend\">", d->out);
	for (unsigned i = 0; i < h->nr; i++)
		html(d->out, "<span><i class=\"k%u\"></i>%s <b>%s</b></span> ", i % COLOURS,
		     h->tracks[i].label, value_text(h, h->tracks[i].total));
	if (peaks)
		fputs("<span><i class=\"k3\"></i>highest frame of each column</span>", d->out);
	fputs("</p>\n", d->out);
}

void lines_put(const struct drawing *d, const struct chart *h, const struct scale *s)
{
	bool peaks = h->nr == 1 && h->tracks[0].peak;

	fputs("<div class=\"plot\">\n", d->out);
	scale_put(d, h, s);
	image_begin(d, h->title, shows(d, h), HIGH, PIXELS);
	rules_put(d, s);
	if (peaks)
		line_put(d, s, h->tracks[0].peak, "l3");
	for (unsigned i = h->nr; i--;)
		line_put(d, s, h->tracks[i].mean, text("l%u", i % COLOURS));
	tell_put(d, h);
	image_end(d, HIGH);
	fputs("</div>\n", d->out);
	key_put(d, h, peaks);
}
