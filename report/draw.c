/* SPDX-License-Identifier: GPL-2.0 */
/* What all charts have: the scale of values, the axis of time, events on it, and a heading. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/util/log.h"
#include "render/units.h"
#include "report/draw.h"
#include "report/html.h"

#define MARKS_MOST	40	/* events that a chart shows: more would hide it */
#define TICKS_MOST	6
#define WIDE_RATIO	30	/* times that differ more are drawn to a logarithmic scale */

static void range(const struct chart *h, struct scale *s)
{
	for (unsigned i = 0; h && i < h->nr; i++) {
		const struct track *t = &h->tracks[i];

		for (unsigned k = 0; k < h->slices; k++) {
			if (!(t->mean[k] > 0))
				continue;
			s->least = fmin(s->least, t->mean[k]);
			s->most = fmax(s->most, t->mean[k]);
		}
		for (unsigned k = 0; k < h->slices && t->peak && is_lines(h); k++)
			s->most = fmax(s->most, t->peak[k]);
	}
}

struct scale scale_of(const struct chart *a, const struct chart *b)
{
	struct scale s = { .least = INFINITY };

	range(a, &s);
	range(b, &s);
	if (!s.most)
		return (struct scale){ .most = 1 };
	s.log = !strcmp((a ?: b)->unit, "seconds") && s.most > WIDE_RATIO * s.least;
	if (!s.log)
		s.least = 0;
	return s;
}

double scale_place(const struct scale *s, double value)
{
	double at = s->log ? log(value / s->least) / log(s->most / s->least) :
		    (value - s->least) / (s->most - s->least);

	return at < 0 ? 0 : at > 1 ? 1 : at;
}

unsigned scale_level(const struct scale *s, double value)
{
	unsigned level;

	if (isnan(value) || value <= 0)
		return 0;
	level = 1 + scale_place(s, value) * LEVELS;
	return level > LEVELS ? LEVELS : level;
}

const char *value_text(const struct chart *h, double value)
{
	char is[UNITS_SIZE];
	bool own = !strcmp(h->unit, "bytes") || !strcmp(h->unit, "seconds");

	if (isnan(value))
		return "-";
	units_any(is, value, h->unit);
	return text("%s%s%s%s", is, own ? "" : " ", own ? "" : h->unit, h->rate ? "/s" : "");
}

const char *mean_text(const struct course *c, const struct chart *h, const struct track *t,
		      unsigned slice)
{
	const struct slice *s = &c->slices[slice];
	char mean[UNITS_SIZE];

	if (!t->peak || s->to - s->from < 2 || isnan(t->mean[slice]))
		return value_text(h, t->mean[slice]);
	units_any(mean, t->mean[slice], h->unit);
	return text("%s, at most %s", mean, value_text(h, t->peak[slice]));
}

const char *clock_text(uint64_t ns)
{
	time_t seconds = ns / 1000000000;
	struct tm tm;
	char at[16];

	strftime(at, sizeof(at), "%T", localtime_r(&seconds, &tm));
	return text("%s", at);
}

unsigned x_of(const struct course *c, uint64_t ns)
{
	uint64_t begin = course_begin(c), end = course_end(c);

	if (ns <= begin)
		return 0;
	return ns >= end ? X_WIDE : (double)(ns - begin) / (end - begin) * X_WIDE + .5;
}

bool event_of(const struct course *c, const struct recorded_event *e)
{
	return (!*e->iface || !strcmp(e->iface, c->name)) &&
	       e->when + 1000000000 >= course_begin(c) && e->when <= course_end(c) + 1000000000;
}

bool event_marks(const struct course *c, const struct recorded_event *e)
{
	static const char *const others[] = { "finding", "finding ends", "begins", "ends",
					      "attached" };

	for (unsigned i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(e->kind, others[i]))
			return false;
	return event_of(c, e);
}

void image_begin(const struct drawing *d, const char *title, const char *shows, unsigned rows,
		 unsigned height)
{
	unsigned id = ++*d->ids;

	html(d->out, "<svg role=\"img\" aria-labelledby=\"t%u d%u\" viewBox=\"0 0 %u %u\" "
	     "preserveAspectRatio=\"none\" style=\"height:%upx\">"
	     "<title id=\"t%u\">%s</title><desc id=\"d%u\">%s</desc>\n", id, id, X_WIDE, rows,
	     height, id, title, id, shows);
}

static void marks_put(const struct drawing *d, unsigned rows)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < d->a->nr_events && nr < MARKS_MOST; i++) {
		const struct recorded_event *e = &d->a->events[i];

		if (!event_marks(d->c, e))
			continue;
		nr++;
		html(d->out, "<path class=\"ev\" d=\"M%u 0v%u\"><title>%s %s: %s</title></path>\n",
		     x_of(d->c, e->when), rows, clock_text(e->when), e->kind, e->what);
	}
}

/* Seconds between two ticks, so that there are few. */
static unsigned tick_step(double seconds)
{
	static const unsigned steps[] = { 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600,
					  7200, 10800, 21600, 43200, 86400 };
	unsigned i = 0;

	while (i + 1 < sizeof(steps) / sizeof(*steps) && seconds / steps[i] > TICKS_MOST)
		i++;
	return steps[i];
}

static void axis_put(const struct drawing *d)
{
	uint64_t begin = course_begin(d->c), end = course_end(d->c);
	unsigned step = tick_step((end - begin) * 1e-9), nr = 0;
	time_t from = begin / 1000000000 + 1;
	struct tm tm;

	/* at whole minutes and hours of this place */
	localtime_r(&from, &tm);
	fputs("<div class=\"x\" aria-hidden=\"true\">", d->out);
	for (time_t at = from; (uint64_t)at * 1000000000 <= end; at++) {
		double place = ((uint64_t)at * 1000000000 - begin) / (double)(end - begin);
		char clock[16];

		if ((at + tm.tm_gmtoff) % step)
			continue;
		strftime(clock, sizeof(clock), step < 60 ? "%T" : "%H:%M",
			 localtime_r(&at, &tm));
		html(d->out, nr++ % 2 ? "<span class=\"odd\" style=\"left:%.2f%%\">%s</span>" :
		     "<span style=\"left:%.2f%%\">%s</span>", 100 * place, clock);
	}
	if (!nr)
		html(d->out, "<span style=\"left:50%%\">%s</span>", clock_text(begin));
	fputs("</div>\n", d->out);
}

void image_end(const struct drawing *d, unsigned rows)
{
	marks_put(d, rows);
	fputs("</svg>\n", d->out);
	axis_put(d);
}

bool is_lines(const struct chart *h)
{
	return h->of == OF_PERCENTILES || h->of == OF_LEVELS || h->nr == 1;
}

void chart_put(const struct drawing *d, const struct chart *h, const struct scale *s)
{
	fputs(h->tracks[0].key && !is_lines(h) ? "<figure class=\"chart wide\">" :
	      "<figure class=\"chart\">", d->out);
	html(d->out, "<figcaption><b>%s</b> <span class=\"unit\">in %s%s"
	     "%s</span></figcaption>\n", h->title, h->unit, h->rate ? " per second" : "",
	     s->log ? ", logarithmic" : "");
	if (is_lines(h))
		lines_put(d, h, s);
	else
		heat_put(d, h, s);
	if (h->more)
		html(d->out, "<p class=\"note\">and %u with less, which are in the table</p>\n",
		     h->more);
	fputs("</figure>\n", d->out);
}
