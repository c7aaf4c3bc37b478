/* SPDX-License-Identifier: GPL-2.0 */
/* Compares a trial with a saved baseline: which figures are worse now? */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/error.h"
#include "lib/util/log.h"
#include "render/json_writer.h"
#include "trial/stats/against.h"
#include "trial/stats/said.h"

static const char *setting_of(const struct record *r, const char *name)
{
	for (unsigned i = 0; i < r->nr_settings; i++)
		if (!strcmp(r->settings[i].name, name))
			return r->settings[i].value;
	return NULL;
}

static int other_setting(const char *name, const char *then, const char *now, struct error *e)
{
	return error_set(e, -EINVAL, "the options of the baseline, or another baseline",
			 "cannot compare with the baseline: it was measured with %s %s, and now it "
			 "is %s", name, then ?: "not set", now ?: "not set");
}

/* Both must have the same scenario and the same settings. */
int against_alike(const struct record *then, const struct record *now, struct error *e)
{
	if (strcmp(then->scenario, now->scenario))
		return error_set(e, -EINVAL, text("nicprobe bench … %s", then->scenario),
				 "cannot compare with the baseline: it is of scenario \"%s\", not "
				 "\"%s\"",
				 then->scenario, now->scenario);
	for (unsigned i = 0; i < then->nr_settings; i++) {
		const struct setting *s = &then->settings[i];
		const char *value = setting_of(now, s->name);

		if (!value || strcmp(s->value, value))
			return other_setting(s->name, s->value, value, e);
	}
	for (unsigned i = 0; i < now->nr_settings; i++)
		if (!setting_of(then, now->settings[i].name))
			return other_setting(now->settings[i].name, NULL, now->settings[i].value,
					     e);
	return 0;
}

int against_change(const struct against *g, const struct comparison *c)
{
	return fabs(comparison_percent(c, c->difference)) > g->tolerance ? comparison_good(c) : 0;
}

/* The number of figures that can be better or worse: they share the false alarm rate. */
static unsigned judged(const struct rounds *s)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < s->nr; i++)
		nr += s->figure[i].better != 0;
	return nr;
}

static void compare(struct against *g, const struct rounds *a, const struct rounds *b,
		    const struct bench_figure *f, double alpha)
{
	int then = rounds_find(a, f->name), now = rounds_find(b, f->name);
	struct comparison *c = &g->list[g->nr++];

	*c = (struct comparison){ .unit = f->unit, .better = f->better };
	memcpy(c->name, f->name, sizeof(c->name));
	compare_unpaired(then < 0 ? NULL : a->values[then], then < 0 ? 0 : a->rounds,
			 now < 0 ? NULL : b->values[now], now < 0 ? 0 : b->rounds, alpha, c);
	g->worse += against_change(g, c) < 0;
	g->better += against_change(g, c) > 0;
}

int against_compare(struct against *g, const struct record *then, const struct record *now,
		    double tolerance, struct error *e)
{
	const struct rounds *a = then->series, *b = now->series;
	double alpha = TRIAL_ALPHA / (judged(b) ?: 1);

	*g = (struct against){ .then = then, .now = now, .tolerance = tolerance };
	if (against_alike(then, now, e))
		return -EINVAL;
	g->list = calloc(a->nr + b->nr + 1, sizeof(*g->list));
	if (!g->list)
		return error_set(e, -ENOMEM, NULL, "cannot compare: out of memory");
	for (unsigned i = 0; i < b->nr; i++)
		compare(g, a, b, &b->figure[i], alpha);
	for (unsigned i = 0; i < a->nr; i++)
		if (rounds_find(b, a->figure[i].name) < 0)
			compare(g, a, b, &a->figure[i], alpha);
	return 0;
}

void against_free(struct against *g)
{
	free(g->list);
	g->list = NULL;
}

static void changed(struct page *p, const char *what, const char *then, const char *now)
{
	if (!strcmp(then, now))
		return;
	page_wrap(p, 2, text("  %s: then %s, now %s", what, *then ? then : "unknown",
			     *now ? now : "unknown"));
	page_newline(p);
}

static void circumstances(struct page *p, const struct against *g)
{
	const struct record *then = g->then, *now = g->now;

	page_style(p, STYLE_DIM);
	page_wrap(p, 0, text("Baseline of %s, %u rounds; %u now.", then->saved,
			     then->series->rounds, now->series->rounds));
	page_newline(p);
	changed(p, "host", then->host, now->host);
	changed(p, "cpu", then->cpu, now->cpu);
	changed(p, "cpus", text("%u", then->cpus), text("%u", now->cpus));
	changed(p, "kernel", then->kernel, now->kernel);
	changed(p, "interface", then->iface, now->iface);
	changed(p, "driver", then->driver, now->driver);
	page_style(p, STYLE_PLAIN);
}

#define HALF	50	/* percent: noise of this size makes a measurement useless */

/* A figure whose interval includes a regression beyond the tolerance. */
static const char *hidden(const struct against *g)
{
	for (unsigned i = 0; i < g->nr; i++) {
		const struct comparison *c = &g->list[i];
		double bad = c->better > 0 ? c->low : c->high;

		if (!c->better || !c->rounds_a || !c->rounds_b || c->verdict == VERDICT_REAL)
			continue;
		if (!isfinite(bad))
			return text(" But there are too few rounds to judge %s.", c->name);
		if (fabs(comparison_percent(c, bad)) >= HALF)
			return text(" But %s varies too much between rounds to be compared: "
				    "try more rounds (--rounds) or a quieter machine.", c->name);
		if (fabs(comparison_percent(c, bad)) > g->tolerance)
			return text(" But noise could hide a change of %s of %s.",
				    said_difference(c, bad), c->name);
	}
	return "";
}

static void conclusion(struct page *p, const struct against *g)
{
	const char *which = "";

	for (unsigned i = 0; i < g->nr; i++)
		if (against_change(g, &g->list[i]) < 0 && strlen(which) < 200)
			which = text("%s%s %s (%s)", which, *which ? "," : ":", g->list[i].name,
				     said_difference(&g->list[i], g->list[i].difference));
	if (g->worse)
		page_style(p, STYLE_YELLOW);
	if (g->worse)
		page_wrap(p, 0, text("Worse by more than %g%%%s.", g->tolerance, which));
	else
		page_wrap(p, 0, text("No significant regression beyond %g%%%s.%s",
				     g->tolerance, g->better ?
				     text("; better by more than that: %u", g->better) : "",
				     hidden(g)));
	page_style(p, STYLE_PLAIN);
	page_newline(p);
}

void against_table(FILE *out, const struct look *look, const struct against *g)
{
	struct page p = said_page(out, look);

	circumstances(&p, g);
	said_table(&p, g->list, g->nr, "then", "now");
	conclusion(&p, g);
}

void against_json(struct json *j, const struct against *g)
{
	json_open(j, "against", '{');
	json_string(j, "saved", g->then->saved);
	json_string(j, "host", g->then->host);
	json_string(j, "kernel", g->then->kernel);
	json_string(j, "driver", g->then->driver);
	json_double(j, "tolerance_percent", g->tolerance);
	json_double(j, "level", 1 - TRIAL_ALPHA);
	json_uint(j, "worse", g->worse);
	json_uint(j, "better", g->better);
	json_open(j, "figures", '[');
	for (unsigned i = 0; i < g->nr; i++) {
		json_open(j, NULL, '{');
		said_json(j, &g->list[i]);
		json_bool(j, "worse_than_tolerance", against_change(g, &g->list[i]) < 0);
		json_close(j);
	}
	json_close(j);
	json_close(j);
}
