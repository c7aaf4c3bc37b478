/* SPDX-License-Identifier: GPL-2.0 */
/* Evaluates made-up snapshots, and compares the findings with the expectation. */
#ifndef JUDGE_H
#define JUDGE_H

#include <stdlib.h>

#include "findings/subjects.h"
#include "lib/hw/hw.h"
#include "check.h"

/* A setup without any settings: to be filled in by set(). */
static inline struct hw *setup_unknown(void)
{
	static struct hw h;
	struct settings *const all[] = { &h.link, &h.port, &h.fec, &h.pause, &h.rings,
					 &h.channels, &h.coalesce };

	h = (struct hw){ .driver = &driver_generic };
	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++)
		for (unsigned k = 0; k < MAX_SETTINGS; k++)
			all[i]->value[k] = NOT_TOLD;
	return &h;
}

/* The place of a setting, to set it. */
static inline long long *set(const struct setting_group *g, struct settings *s, const char *name)
{
	for (unsigned i = 0; i < g->nr; i++)
		if (!strcmp(g->list[i].name, name))
			return &s->value[i];
	abort();
}

/* Findings can be compared: each has packets that it concerns, or the part of a limit. */
static inline void costs_all(const struct findings *all)
{
	for (unsigned i = 0; i < all->nr; i++) {
		const struct finding *f = &all->list[i];

		must(f->struck > 0 || (f->kind->harm == HARM_RISK && f->harm > 0), f->kind->id,
		     "it has no cost");
	}
}

/* Switches on every meter that has figures. */
static inline void judge_all(struct snapshot *s, const struct hw *h)
{
	for (int id = 0; id < NR_METERS; id++)
		if (s->tables[id].cells)
			s->meta.on |= 1ull << id;
	findings_judge(s, h);
	if (s->seconds > 0)
		costs_all(&s->findings);
}

/* Does a finding contain these words? */
static inline bool finding_says(const struct findings *f, const char *what)
{
	for (unsigned i = 0; i < f->nr; i++)
		if (strstr(f->list[i].what, what))
			return true;
	return false;
}

/*
 * Evaluates and compares: `id` is the only finding (NULL: none), its sentence contains `what`, and
 * its suggestion `try`; NULL: any.
 */
static inline void finds(struct snapshot *s, const struct hw *h, const char *name, const char *id,
			 const char *what, const char *try)
{
	const struct finding *f = s->findings.list;
	char words[900] = "";

	judge_all(s, h);
	if (s->findings.nr)
		finding_try(f, words, sizeof(words));
	check(id ? s->findings.nr == 1 && !strcmp(f->kind->id, id) &&
	      (!what || strstr(f->what, what)) && (!try || strstr(words, try)) &&
	      strlen(f->what) < sizeof(f->what) - 1 && strlen(f->advice) < sizeof(f->advice) - 1 :
	      !s->findings.nr, name, s->findings.nr ?
	      text("%u: %s: %.200s (%.150s)", s->findings.nr, f->kind->id, f->what, words) :
	      "nothing was found");
}

#endif
