/* SPDX-License-Identifier: GPL-2.0 */
/* All rounds under one setting: the value of each figure in each round. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "trial/stats/rounds.h"

struct rounds *rounds_new(void)
{
	return calloc(1, sizeof(struct rounds));
}

int rounds_find(const struct rounds *s, const char *name)
{
	for (unsigned i = 0; i < s->nr; i++)
		if (!strcmp(s->figure[i].name, name))
			return i;
	return -1;
}

int rounds_know(struct rounds *s, const struct bench_figure *f)
{
	int at = rounds_find(s, f->name);

	if (at >= 0 || s->nr == FIGURES_MAX)
		return at;
	s->figure[s->nr] = *f;
	for (unsigned round = 0; round < ROUNDS_MAX; round++)
		s->values[s->nr][round] = NAN;
	return s->nr++;
}

int rounds_add(struct rounds *s, const struct result *r)
{
	if (s->rounds == ROUNDS_MAX)
		return -E2BIG;
	for (unsigned i = 0; i < s->nr; i++)
		s->values[i][s->rounds] = s->figure[i].value = NAN;
	for (int i = 0; i < r->nr; i++) {
		const struct bench_figure *f = &r->figure[i];
		/* most likely at the same index as in the round before */
		bool there = (unsigned)i < s->nr && !strcmp(s->figure[i].name, f->name);
		int at = there ? i : rounds_know(s, f);

		if (at >= 0)
			s->values[at][s->rounds] = s->figure[at].value = f->value;
	}
	s->rounds++;
	return 0;
}
