/* SPDX-License-Identifier: GPL-2.0 */
/* Findings: how one is made, and which follows from which. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/read/findings.h"
#include "lib/util/list.h"

const char *const severity_names[] = {
	[SEVERITY_INFO] = "info",
	[SEVERITY_WARNING] = "warning",
	[SEVERITY_CRITICAL] = "critical",
};
ONE_EACH(severity_names, NR_SEVERITIES);

const char *const harm_names[] = {
	[HARM_LOSS] = "loss",
	[HARM_WAIT] = "wait",
	[HARM_WORK] = "work",
	[HARM_RISK] = "risk",
	[HARM_BLIND] = "blind",
};
ONE_EACH(harm_names, NR_HARMS);

const char *const harm_units[] = {
	[HARM_LOSS] = "packets/s",
	[HARM_WAIT] = "seconds",
	[HARM_WORK] = "packets/s",
	[HARM_RISK] = "ratio",
	[HARM_BLIND] = "packets/s",
};
ONE_EACH(harm_units, NR_HARMS);

void findings_copy(struct findings *to, const struct findings *from)
{
	to->nr = from->nr;
	memcpy(to->list, from->list, from->nr * sizeof(*from->list));
	to->nr_earlier = from->nr_earlier;
	memcpy(to->earlier, from->earlier, sizeof(from->earlier));
}

void findings_clear(struct findings *f)
{
	f->nr = f->nr_earlier = 0;
}

/* What it costs in one second: packets, or seconds that they wait in all. */
static double price(const struct finding *one)
{
	return one->kind->harm == HARM_WAIT ? one->harm * one->struck : one->harm;
}

/* Does `a` cost more than `b`, which is of the same kind of harm? */
static bool dearer(const struct finding *a, const struct finding *b)
{
	if (price(a) != price(b))
		return price(a) > price(b);
	return a->harm != b->harm ? a->harm > b->harm : a->struck > b->struck;
}

/* Leaves one of a kind: that which costs most. */
static void merge(struct findings *f, const struct finding_kind *kind)
{
	struct finding *first = NULL;

	for (unsigned i = 0; i < f->nr; i++) {
		struct finding *one = &f->list[i];
		unsigned others;

		if (one->kind != kind)
			continue;
		if (!first) {
			first = one;
			continue;
		}
		others = first->others + one->others + 1;
		if (dearer(one, first))
			*first = *one;
		first->others = others;
		memmove(one, one + 1, (f->nr - i - 1) * sizeof(*one));
		f->nr--;
		i--;
	}
}

struct finding *finding_add(struct findings *f, const struct finding_kind *kind, int queue,
			    const char *what, ...)
{
	struct finding *one;
	va_list args;

	for (unsigned i = 0; i < f->nr; i++)
		if (f->list[i].kind == kind && f->list[i].queue == queue)
			return NULL;
	merge(f, kind);
	if (f->nr == MAX_FINDINGS)
		return NULL;
	one = &f->list[f->nr++];
	*one = (struct finding){
		.kind = kind, .severity = kind->severity, .queue = queue, .under = -1,
	};
	va_start(args, what);
	vsnprintf(one->what, sizeof(one->what), what, args);
	va_end(args);
	return one;
}

void finding_harm(struct finding *one, double amount)
{
	if (!one)
		return;
	one->harm = amount;
	if (one->kind->harm != HARM_WAIT && one->kind->harm != HARM_RISK)
		one->struck = amount;
}

void finding_strikes(struct finding *one, double packets)
{
	if (one)
		one->struck = packets;
}

void finding_fact(struct finding *one, const char *name, double value, const char *unit)
{
	if (one && one->nr_facts < MAX_FACTS)
		one->facts[one->nr_facts++] = (struct fact){ name, value, unit };
}

void finding_advise(struct finding *one, const char *advice, ...)
{
	va_list args;

	if (!one)
		return;
	va_start(args, advice);
	vsnprintf(one->advice, sizeof(one->advice), advice, args);
	va_end(args);
}

void finding_changes(struct finding *one, const char *what, ...)
{
	va_list args;

	if (!one)
		return;
	va_start(args, what);
	vsnprintf(one->changes, sizeof(one->changes), what, args);
	va_end(args);
}

/* A command that does not fit is left out: half of one would be another. */
void finding_fix_words(struct finding *one, const char *const *words)
{
	char *to = one && one->nr_fixes < MAX_FIXES ? one->fixes[one->nr_fixes] : NULL;
	size_t room = sizeof(one->fixes[0]) - 1;

	if (!to)
		return;
	for (; *words && strlen(*words) < room; words++) {
		size_t len = strlen(*words) + 1;

		memcpy(to, *words, len);
		to += len;
		room -= len;
	}
	*to = '\0';
	if (*words)
		memset(one->fixes[one->nr_fixes], 0, sizeof(one->fixes[0]));
	else
		one->nr_fixes++;
}

const struct finding *finding_find(const struct findings *f, const char *id)
{
	for (unsigned i = 0; i < f->nr; i++)
		if (!strcmp(f->list[i].kind->id, id))
			return &f->list[i];
	return NULL;
}

/* The finding that this one follows from; -1: none. Of the causes the one that is named first. */
static int cause_of(const struct findings *f, const struct finding *one)
{
	for (int i = 0; i < MAX_CAUSES && one->kind->follows[i]; i++) {
		const struct finding *cause = finding_find(f, one->kind->follows[i]);

		if (cause)
			return cause - f->list;
	}
	return -1;
}

/* A chain of causes is folded under its beginning; the tables have no circle: a test sees it. */
static int root_of(const struct findings *f, int at)
{
	for (unsigned i = 0; i < f->nr && f->list[at].under >= 0; i++)
		at = f->list[at].under;
	return at;
}

int finding_worse(const struct finding *x, const struct finding *y)
{
	if (x->severity != y->severity)
		return x->severity < y->severity ? 1 : -1;
	if (x->kind->harm != y->kind->harm)
		return x->kind->harm > y->kind->harm ? 1 : -1;
	return dearer(y, x) - dearer(x, y);
}

/* For qsort(). */
static int worse(const void *a, const void *b)
{
	return finding_worse(a, b);
}

/* What each is folded under: the beginning of its chain; -1: it stands by itself. */
static void fold(struct findings *f)
{
	int root[MAX_FINDINGS];

	for (unsigned i = 0; i < f->nr; i++)
		f->list[i].under = cause_of(f, &f->list[i]);
	for (unsigned i = 0; i < f->nr; i++)
		root[i] = root_of(f, i);
	for (unsigned i = 0; i < f->nr; i++)
		f->list[i].under = root[i] == (int)i ? -1 : root[i];
}

/* Each that stands by itself, then those under it; a group is where the worst of it would be. */
static void group(struct findings *f)
{
	static struct findings sorted;
	bool done[MAX_FINDINGS] = {};

	findings_copy(&sorted, f);
	f->nr = 0;
	for (unsigned i = 0; i < sorted.nr; i++) {
		int root = sorted.list[i].under < 0 ? (int)i : sorted.list[i].under;

		if (done[root])
			continue;
		done[root] = true;
		f->list[f->nr++] = sorted.list[root];
		for (unsigned k = 0; k < sorted.nr; k++)
			if (sorted.list[k].under == root)
				f->list[f->nr++] = sorted.list[k];
	}
}

void findings_order(struct findings *f)
{
	for (unsigned i = 0; i < f->nr; i++)
		merge(f, f->list[i].kind);
	fold(f);
	/* It is as bad as the worst that comes of it. */
	for (unsigned i = 0; i < f->nr; i++) {
		struct finding *one = &f->list[i], *root = one->under < 0 ? one :
			&f->list[one->under];

		if (root->severity < one->severity)
			root->severity = one->severity;
	}
	qsort(f->list, f->nr, sizeof(f->list[0]), worse);
	fold(f);	/* their places have changed */
	group(f);
	fold(f);
}

unsigned findings_count(const struct findings *f, enum severity at_least)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < f->nr; i++)
		nr += f->list[i].under < 0 && f->list[i].severity >= at_least;
	return nr;
}
