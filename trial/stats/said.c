/* SPDX-License-Identifier: GPL-2.0 */
/* Comparisons as text and as JSON. */
#include <math.h>
#include <string.h>

#include "lib/util/list.h"
#include "lib/util/log.h"
#include "render/grid.h"
#include "render/units.h"
#include "trial/stats/said.h"

struct page said_page(FILE *out, const struct look *look)
{
	return (struct page){ .out = out, .look = look,
			      .width = look->width < 40 ? 40 : look->width };
}

static const char *value_text(double x)
{
	char number[UNITS_SIZE];

	if (!isfinite(x))
		return "-";
	units_count(number, fabs(x));
	return text("%s%s", x < 0 ? "-" : "", number);
}

/* Two decimals for single digits, none from 100 on. */
static const char *percent_text(double x)
{
	double size = fabs(x);

	if (x == 0)
		return "0%";
	if (size >= 9999.5)
		return text("%+.0fk%%", x / 1000);
	return text("%+.*f%%", size < 9.995 ? 2 : size < 99.95 ? 1 : 0, x);
}

const char *said_difference(const struct comparison *c, double difference)
{
	double percent = comparison_percent(c, difference);

	if (isnan(difference))
		return "-";
	if (isfinite(percent))
		return percent_text(percent);
	return isinf(difference) ? "-" : text("%s%s", difference < 0 ? "" : "+",
					      value_text(difference));
}

static const char *interval_text(const struct comparison *c)
{
	const char *low = said_difference(c, c->low), *high = said_difference(c, c->high);

	if (!isfinite(c->low) || !isfinite(c->high))
		return "";
	/* a single percent sign for both */
	if (strchr(low, '%') && strchr(high, '%'))
		return text("%.*s to %s", (int)strlen(low) - 1, low, high);
	return text("%s to %s", low, high);
}

static const char *verdict_text(const struct comparison *c)
{
	int good = comparison_good(c);

	if (!c->rounds_a || !c->rounds_b)
		return "";
	if (c->verdict == VERDICT_FEW)
		return "few rounds";
	if (c->verdict == VERDICT_NONE)
		return "no";
	return good > 0 ? "better" : good < 0 ? "worse" : "yes";
}

static const char *verdict_style(const struct comparison *c)
{
	return comparison_good(c) < 0 ? STYLE_YELLOW : comparison_good(c) > 0 ? STYLE_BOLD :
	       STYLE_PLAIN;
}

static bool measured(const struct comparison *c)
{
	return c->rounds_a || c->rounds_b;
}

static void not_measured(struct page *p, const struct comparison *list, unsigned nr, unsigned skip)
{
	unsigned left = 0;

	for (unsigned i = 0; i < nr; i++)
		left += !measured(&list[i]);
	if (!left)
		return;
	page_style(p, STYLE_DIM);
	page_wrap(p, 2, "  not measured:");
	for (unsigned i = 0; i < nr; i++)
		if (!measured(&list[i]))
			page_wrap(p, 2, text(" %s%s", list[i].name + skip, --left ? "," : ""));
	page_style(p, STYLE_PLAIN);
	page_newline(p);
}

/* With a single scenario, its name is left out of the lines. */
static unsigned same_beginning(const struct comparison *list, unsigned nr)
{
	size_t length = strcspn(list->name, " ") + 1;

	for (unsigned i = 0; i < nr; i++)
		if (strncmp(list[i].name, list->name, length) || !list[i].name[length - 1])
			return 0;
	return length;
}

static void line(struct grid *g, const struct comparison *c, const char *name)
{
	grid_line(g);
	grid_cell(g, 0, name);
	grid_cell(g, 1, value_text(c->a));
	grid_cell(g, 2, value_text(c->b));
	grid_cell(g, 3, said_difference(c, c->difference));
	grid_cell(g, 4, interval_text(c));
	grid_cell(g, 5, verdict_text(c));
}

void said_table(struct page *p, const struct comparison *list, unsigned nr, const char *a,
		const char *b)
{
	unsigned skip = nr ? same_beginning(list, nr) : 0;
	const char *const heads[] = {
		skip ? text("%.*s", (int)skip - 1, list->name) : "figure", a, b, "change",
		"95% interval", "real?"
	};
	static const unsigned char drop[] = { 0, 2, 2, 0, 1, 0 };
	struct grid g = {};

	for (unsigned i = 0; i < sizeof(drop); i++) {
		struct column *c = grid_column(&g, drop[i], heads[i]);

		if (c)
			c->left = i == 0 || i == 5;
	}
	for (unsigned i = 0; i < nr; i++)
		if (measured(&list[i]))
			line(&g, &list[i], list[i].name + skip);
	grid_print(&g, p);
	grid_free(&g);
	not_measured(p, list, nr, skip);
}

static const char *const verdict_names[] = {
	[VERDICT_FEW] = "few-rounds", [VERDICT_NONE] = "none", [VERDICT_REAL] = "real",
};
ONE_EACH(verdict_names, NR_VERDICTS);

static void json_interval(struct json *j, const char *key, double low, double high)
{
	json_open(j, key, '[');
	json_double(j, NULL, low);
	json_double(j, NULL, high);
	json_close(j);
}

void said_json(struct json *j, const struct comparison *c)
{
	json_string(j, "name", c->name);
	json_string(j, "unit", c->unit);
	json_double(j, "better", c->better);
	json_double(j, "a", c->a);
	json_double(j, "b", c->b);
	json_uint(j, "rounds_a", c->rounds_a);
	json_uint(j, "rounds_b", c->rounds_b);
	json_double(j, "difference_percent", comparison_percent(c, c->difference));
	json_interval(j, "interval_percent", comparison_percent(c, c->low),
		      comparison_percent(c, c->high));
	if (!c->relative) {
		json_double(j, "difference", c->difference);
		json_interval(j, "interval", c->low, c->high);
	}
	json_string(j, "verdict", verdict_names[c->verdict]);
}

/* The result of the deciding figure as a sentence. */
static void sentence(struct page *p, const struct ab *t)
{
	const struct comparison *c = &t->pairs.list[t->pairs.deciding];
	int good = comparison_good(c);

	if (!t->pairs.nr) {
		page_wrap(p, 0, "No pair of rounds was completed.");
	} else if (!c->rounds_a) {
		page_wrap(p, 0, text("%s: could not be measured here.", c->name));
	} else if (c->verdict == VERDICT_FEW) {
		page_wrap(p, 0, text("%s: not enough rounds to tell whether A and B differ.",
				     c->name));
	} else if (c->verdict == VERDICT_NONE) {
		page_wrap(p, 0, text("%s: no difference between A and B. Noise could hide a "
				     "difference between %s and %s.", c->name,
				     said_difference(c, c->low), said_difference(c, c->high)));
	} else {
		page_style(p, verdict_style(c));
		page_wrap(p, 0, text("%s: %s under B, a real difference (%s to %s)%s.", c->name,
				     said_difference(c, c->difference), said_difference(c, c->low),
				     said_difference(c, c->high), good > 0 ? ": better" :
				     good < 0 ? ": worse" : ""));
		page_style(p, STYLE_PLAIN);
	}
	page_newline(p);
}

static void why_ended(struct page *p, const struct ab *t)
{
	static const char *const why[] = {
		[AB_DECIDED] = "decided", [AB_ROUNDS] = "round limit reached",
		[AB_TIME] = "time limit reached", [AB_STOPPED] = "stopped",
	};
	ONE_EACH(why, NR_AB_ENDS);
	char took[UNITS_SIZE];

	units_duration(took, t->seconds);
	page_style(p, STYLE_DIM);
	page_wrap(p, 0, text("%u round%s of each, in random order, in %s: %s. A was set again.",
			     t->nr, t->nr == 1 ? "" : "s", took, why[t->end]));
	page_style(p, STYLE_PLAIN);
	page_newline(p);
}

void ab_table(FILE *out, const struct look *look, const struct ab *t)
{
	struct page p = said_page(out, look);

	for (int which = 0; which < 2; which++) {
		page_put(&p, which ? "B: " : "A: ", 3);
		page_put(&p, t->options.command[which], -1);
		page_newline(&p);
	}
	sentence(&p, t);
	if (t->pairs.nr)
		said_table(&p, t->pairs.list, t->pairs.nr, "A", "B");
	why_ended(&p, t);
}

static void json_values(struct json *j, const char *key, const struct rounds *s, const char *name)
{
	int at = rounds_find(s, name);

	json_open(j, key, '[');
	for (unsigned i = 0; i < s->rounds; i++)
		json_double(j, NULL, at < 0 ? NAN : s->values[at][i]);
	json_close(j);
}

void ab_json(struct json *j, const struct ab *t)
{
	static const char *const ends[] = {
		[AB_DECIDED] = "decided", [AB_ROUNDS] = "rounds", [AB_TIME] = "time",
		[AB_STOPPED] = "stopped",
	};
	ONE_EACH(ends, NR_AB_ENDS);

	json_open(j, "ab", '{');
	json_string(j, "command_a", t->options.command[0]);
	json_string(j, "command_b", t->options.command[1]);
	json_uint(j, "rounds", t->nr);
	json_string(j, "order", t->order);
	json_uint(j, "seed", t->options.seed);
	json_double(j, "seconds", t->seconds);
	json_string(j, "end", ends[t->end]);
	json_double(j, "level", 1 - TRIAL_ALPHA);
	json_string(j, "decides", t->pairs.nr ? t->pairs.list[t->pairs.deciding].name : "");
	json_open(j, "figures", '[');
	for (unsigned i = 0; i < t->pairs.nr; i++) {
		json_open(j, NULL, '{');
		said_json(j, &t->pairs.list[i]);
		json_values(j, "values_a", t->pairs.side[0], t->pairs.list[i].name);
		json_values(j, "values_b", t->pairs.side[1], t->pairs.list[i].name);
		json_close(j);
	}
	json_close(j);
	json_close(j);
}

void ab_progress(void *ctx, const struct ab *t, int which)
{
	const struct comparison *c = t->pairs.nr ? &t->pairs.list[t->pairs.deciding] : NULL;

	(void)ctx;
	fprintf(stderr, "\r\033[Kround %u of at most %u: %c", t->nr + 1, t->options.rounds,
		'A' + which);
	if (c && isfinite(c->low) && isfinite(c->high))
		fprintf(stderr, "; so far, B is between %s and %s", said_difference(c, c->low),
			said_difference(c, c->high));
	fflush(stderr);
}

void ab_progress_end(void)
{
	fputs("\r\033[K", stderr);
	fflush(stderr);
}
