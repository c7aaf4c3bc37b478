/* SPDX-License-Identifier: GPL-2.0 */
/* Values over the last minutes, one for each moment that was read. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/grow.h"
#include "top/past.h"

void past_moment(struct past *p)
{
	p->moments++;
	for (unsigned i = 0; i < p->nr; i++)
		p->lines[i]->values[p->moments % PAST_MOST] = NAN;
}

const struct past_line *past_find(const struct past *p, enum past_kind kind, unsigned of,
				  unsigned sub)
{
	for (unsigned i = 0; i < p->nr; i++)
		if (p->lines[i]->kind == kind && p->lines[i]->of == of && p->lines[i]->sub == sub)
			return p->lines[i];
	return NULL;
}

static struct past_line *add(struct past *p, enum past_kind kind, unsigned of, unsigned sub)
{
	struct past_line **list = grow(p->lines, p->nr, sizeof(*list));
	struct past_line *line = list ? malloc(sizeof(*line)) : NULL;

	if (list)
		p->lines = list;
	if (!line)
		return NULL;
	*line = (struct past_line){ .kind = kind, .of = of, .sub = sub };
	for (unsigned i = 0; i < PAST_MOST; i++)
		line->values[i] = NAN;
	return list[p->nr++] = line;
}

void past_put(struct past *p, enum past_kind kind, unsigned of, unsigned sub, double value)
{
	struct past_line *line = (struct past_line *)past_find(p, kind, of, sub);

	if (!line && !isnan(value))
		line = add(p, kind, of, sub);
	if (line)
		line->values[p->moments % PAST_MOST] = value;
}

void past_free(struct past *p)
{
	for (unsigned i = 0; i < p->nr; i++)
		free(p->lines[i]);
	free(p->lines);
	*p = (struct past){};
}

/* The mean of the moments from `from` up to, and without, `to`; NAN: none is known. */
static double mean(const struct past *p, const struct past_line *l, long from, long to)
{
	long now = p->moments;
	double sum = 0;
	unsigned nr = 0;

	for (long i = from > 1 ? from : 1; i < to && i <= now; i++)
		if (i + PAST_MOST > now && !isnan(l->values[i % PAST_MOST])) {
			sum += l->values[i % PAST_MOST];
			nr++;
		}
	return nr ? sum / nr : NAN;
}

/* "▁" is little, and also 0, as long as it is known to be 0; what is not known is blank. */
static void height(double value, double most, bool utf8, char *text)
{
	static const char *const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const letters[] = { "_", ".", "-", "~", "+", "=", "*", "#" };
	int step = most > 0 ? ceil(value / most * 8) - 1 : 0;

	if (isnan(value))
		strcpy(text, " ");
	else
		strcpy(text, (utf8 ? blocks : letters)[step < 0 ? 0 : step > 7 ? 7 : step]);
}

/* Columns begin at multiples of a step, so that they do not change while they move to the left. */
void past_spark(const struct past *p, const struct past_line *l, unsigned width, unsigned span,
		bool utf8, char *text, size_t size)
{
	long step = width ? (span + width - 1) / width : 1;
	long end = ((long)p->moments + step) / step * step;
	double most = 0;

	*text = '\0';
	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < width && strlen(text) + 4 <= size; i++) {
			long from = end - step * (width - i);
			double value = l ? mean(p, l, from, from + step) : NAN;

			if (!pass && value > most)
				most = value;
			if (pass)
				height(value, most, utf8, text + strlen(text));
		}
}

bool past_range(const struct past *p, const struct past_line *l, unsigned span, double *least,
		double *most)
{
	bool any = false;

	if (span > PAST_MOST)
		span = PAST_MOST;
	for (unsigned i = 0; l && i < span; i++) {
		double value = l->values[(p->moments + PAST_MOST - i) % PAST_MOST];

		if (isnan(value))
			continue;
		*least = any && *least < value ? *least : value;
		*most = any && *most > value ? *most : value;
		any = true;
	}
	return any;
}

void past_bar(double part, unsigned width, bool utf8, char *text, size_t size)
{
	static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█" };
	unsigned filled = part > 0 ? ceil(fmin(part, 1) * width * 8) : 0, at = 0;

	*text = '\0';
	for (; at < width && strlen(text) + 4 <= size; at++) {
		unsigned here = filled > 8 * at ? filled - 8 * at : 0;

		if (!here)
			break;
		strcat(text, utf8 ? eighths[here > 8 ? 8 : here] : here > 3 ? "#" : "-");
	}
}
