/* SPDX-License-Identifier: GPL-2.0 */
/* Pairs of rounds of A and B, tested as they come in until the comparison is decided. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/error.h"
#include "lib/util/near.h"
#include "trial/stats/pairs.h"

/* Shares of alpha. */
enum pool { DECIDING, JUDGED, OTHERS, NR_POOLS };
static const double shares[NR_POOLS] = { 0.8, 0.1, 0.1 };

int pairs_start(struct pairs *p, unsigned max, struct error *e)
{
	p->looks = (struct looks){ .max = max < ROUNDS_MAX ? max : ROUNDS_MAX };
	p->list = calloc(FIGURES_MAX, sizeof(*p->list));
	for (int i = 0; i < 2; i++)
		p->side[i] = rounds_new();
	if (p->list && p->side[0] && p->side[1])
		return 0;
	pairs_free(p);
	return error_set(e, -ENOMEM, NULL, "cannot keep %u rounds: out of memory", max);
}

void pairs_free(struct pairs *p)
{
	free(p->list);
	free(p->side[0]);
	free(p->side[1]);
	p->list = NULL;
	p->side[0] = p->side[1] = NULL;
}

static int decide_by(struct pairs *p, struct error *e)
{
	const struct rounds *a = p->side[0];
	struct near near = near_to(p->figure ?: "");
	int at = p->figure ? rounds_find(a, p->figure) : 0;

	for (unsigned i = 0; at < 0 && i < a->nr; i++)
		near_try(&near, a->figure[i].name);
	if (at < 0)
		return error_set(e, -ENOENT,
				 *near.name ? near.name : a->nr ? a->figure[0].name : NULL,
				 "the trial has no figure \"%s\"", p->figure);
	while (!p->figure && (unsigned)at < a->nr && !a->figure[at].better)
		at++;
	p->deciding = (unsigned)at < a->nr ? at : 0;
	return 0;
}

int pairs_add(struct pairs *p, const struct result *a, const struct result *b, struct error *e)
{
	int err = rounds_add(p->side[0], a) ?: rounds_add(p->side[1], b);

	for (unsigned i = 0; i < p->side[1]->nr; i++)
		rounds_know(p->side[0], &p->side[1]->figure[i]);
	for (unsigned i = 0; i < p->side[0]->nr; i++)
		rounds_know(p->side[1], &p->side[0]->figure[i]);
	return err ?: decide_by(p, e);
}

bool pairs_due(const struct pairs *p)
{
	unsigned nr = p->side[1]->rounds;

	return nr && looks_next(&p->looks, nr - 1) == nr;
}

static void compare(struct pairs *p, unsigned figure, double alpha)
{
	const struct rounds *a = p->side[0], *b = p->side[1];
	const struct bench_figure *f = &a->figure[figure];
	struct comparison *c = &p->list[figure];
	int other = rounds_find(b, f->name);

	*c = (struct comparison){ .unit = f->unit, .better = f->better };
	memcpy(c->name, f->name, sizeof(c->name));
	compare_paired(a->values[figure], b->values[other < 0 ? 0 : other],
		       other < 0 ? 0 : b->rounds, alpha, c);
}

static bool measured(const struct rounds *s, const char *name)
{
	int at = rounds_find(s, name);

	for (unsigned i = 0; at >= 0 && i < s->rounds; i++)
		if (isfinite(s->values[at][i]))
			return true;
	return false;
}

static enum pool pool_of(const struct pairs *p, unsigned figure)
{
	if (figure == p->deciding)
		return DECIDING;
	return p->side[0]->figure[figure].better ? JUDGED : OTHERS;
}

static bool settled(const struct comparison *c, double tolerance)
{
	double low = comparison_percent(c, c->low), high = comparison_percent(c, c->high);

	return c->verdict == VERDICT_REAL ||
	       (c->verdict == VERDICT_NONE && low >= -tolerance && high <= tolerance);
}

bool pairs_look(struct pairs *p, bool last)
{
	double alpha = looks_spend(&p->looks, p->side[1]->rounds, last);
	unsigned in[NR_POOLS] = {};

	p->nr = p->side[0]->nr;
	for (unsigned i = 0; i < p->nr; i++)
		in[pool_of(p, i)] += measured(p->side[0], p->side[0]->figure[i].name);
	for (unsigned i = 0; i < p->nr; i++) {
		enum pool pool = pool_of(p, i);

		compare(p, i, alpha * shares[pool] / (in[pool] ?: 1));
	}
	return p->nr && settled(&p->list[p->deciding], p->tolerance);
}
