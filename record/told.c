/* SPDX-License-Identifier: GPL-2.0 */
/* Findings in a recording: as they were made then, on the machine itself. */
#include <stdlib.h>
#include <string.h>

#include "findings/subjects.h"
#include "lib/util/grow.h"
#include "record/told.h"

/* Where `before` has this kind; 0: nowhere, else its place and 1. */
static unsigned told_before(const struct findings *before, const struct finding_kind *kind)
{
	for (unsigned i = 0; i < before->nr; i++)
		if (before->list[i].kind == kind)
			return i + 1;
	return 0;
}

/* What of it is the same at the beginning and at the end, and what is between. */
static void put_since(struct bytes *b, const char *now, size_t len, const char *before,
		      size_t had)
{
	size_t first = 0, last = 0, most = len < had ? len : had;

	while (first < most && now[first] == before[first])
		first++;
	while (last < most - first && now[len - 1 - last] == before[had - 1 - last])
		last++;
	bytes_uint(b, first);
	bytes_uint(b, last);
	bytes_uint(b, len - first - last);
	bytes_add(b, now + first, len - first - last);
}

static size_t take_since(struct reading_of *r, char *now, size_t size, const char *before,
			 size_t had)
{
	uint64_t first = take_uint(r), last = take_uint(r);
	size_t len;
	const char *words = take_words(r, &len);

	*now = '\0';
	if (first > had || last > had - first || first + len + last >= size) {
		r->bad = true;
		return 0;
	}
	memcpy(now, before, first);
	memcpy(now + first, words, len);
	memcpy(now + first + len, before + had - last, last);
	now[first + len + last] = '\0';
	return first + len + last;
}

static void text_since(struct bytes *b, const char *now, const char *before)
{
	put_since(b, now, strlen(now), before, strlen(before));
}

static void text_take(struct reading_of *r, char *now, size_t size, const char *before)
{
	take_since(r, now, size, before, strlen(before));
}

/* Up to the last byte before the two 0 that end it. */
static size_t fix_len(const char *words)
{
	size_t len = 0;

	while (words[len])
		len += strlen(words + len) + 1;
	return len;
}

static void one_put(struct bytes *b, const struct finding *f, const struct findings *before)
{
	static const struct finding none;
	unsigned at = told_before(before, f->kind);
	const struct finding *had = at ? &before->list[at - 1] : &none;

	bytes_uint(b, at);
	if (!at)
		bytes_text(b, f->kind->id);
	bytes_uint(b, f->severity);
	bytes_int(b, f->queue);
	bytes_uint(b, f->others);
	bytes_int(b, f->under);
	bytes_double(b, f->harm);
	bytes_double(b, f->struck);
	bytes_uint(b, f->host);
	text_since(b, f->what, had->what);
	text_since(b, f->advice, had->advice);
	text_since(b, f->changes, had->changes);
	bytes_uint(b, f->nr_fixes);
	for (unsigned i = 0; i < f->nr_fixes; i++)
		put_since(b, f->fixes[i], fix_len(f->fixes[i]), had->fixes[i],
			  fix_len(had->fixes[i]));
	bytes_uint(b, f->nr_facts);
	for (unsigned i = 0; i < f->nr_facts; i++) {
		bytes_text(b, f->facts[i].name);
		bytes_text(b, f->facts[i].unit);
		bytes_double(b, f->facts[i].value);
	}
}

/* Names of facts stay where they are; there are few. */
static const char *kept(const char *name)
{
	static char **list;
	static unsigned nr;
	void *more;

	for (unsigned i = 0; i < nr; i++)
		if (!strcmp(list[i], name))
			return list[i];
	more = grow(list, nr, sizeof(*list));
	if (!more)
		return "";
	list = more;
	list[nr] = strdup(name);
	return list[nr] ? list[nr++] : "";
}

static bool one_take(struct finding *f, const struct findings *before, struct reading_of *r)
{
	static const struct finding none;
	unsigned at = take_uint(r);
	const struct finding *had = at && at <= before->nr ? &before->list[at - 1] : &none;
	char name[64], unit[32];

	*f = (struct finding){ .kind = had->kind };
	r->bad |= at > before->nr;
	if (!at) {
		take_text(r, name, sizeof(name));
		f->kind = kind_find(name);
	}
	f->severity = take_uint(r);
	f->queue = take_int(r);
	f->others = take_uint(r);
	f->under = take_int(r);
	f->harm = take_double(r);
	f->struck = take_double(r);
	f->host = take_uint(r);
	text_take(r, f->what, sizeof(f->what), had->what);
	text_take(r, f->advice, sizeof(f->advice), had->advice);
	text_take(r, f->changes, sizeof(f->changes), had->changes);
	f->nr_fixes = take_count(r);
	r->bad |= f->nr_fixes > MAX_FIXES || f->severity >= NR_SEVERITIES;
	for (unsigned i = 0; i < f->nr_fixes && !r->bad; i++) {
		size_t len = take_since(r, f->fixes[i], FIX_ROOM - 1, had->fixes[i],
					fix_len(had->fixes[i]));

		r->bad |= len && f->fixes[i][len - 1];
		f->fixes[i][len + 1] = '\0';
	}
	f->nr_facts = take_count(r);
	r->bad |= f->nr_facts > MAX_FACTS;
	for (unsigned i = 0; i < f->nr_facts && !r->bad; i++) {
		take_text(r, name, sizeof(name));
		take_text(r, unit, sizeof(unit));
		f->facts[i] = (struct fact){ kept(name), take_double(r), kept(unit) };
	}
	return !r->bad;
}

void told_put(struct bytes *b, const struct findings *now, const struct findings *before)
{
	bytes_uint(b, now->nr);
	for (unsigned i = 0; i < now->nr; i++)
		one_put(b, &now->list[i], before);
	bytes_uint(b, now->nr_earlier);
	for (unsigned i = 0; i < now->nr_earlier; i++) {
		bytes_text(b, now->earlier[i].kind->id);
		bytes_uint(b, now->earlier[i].packets);
		bytes_double(b, now->earlier[i].ago);
	}
}

bool told_take(struct findings *now, const struct findings *before, struct reading_of *r)
{
	unsigned nr = take_count(r);

	*now = (struct findings){};
	for (unsigned i = 0; i < nr && !r->bad && now->nr < MAX_FINDINGS; i++)
		if (one_take(&now->list[now->nr], before, r))
			now->nr++;
	r->bad |= nr > MAX_FINDINGS;
	nr = take_count(r);
	for (unsigned i = 0; i < nr && !r->bad; i++) {
		struct earlier *e = &now->earlier[now->nr_earlier];
		char id[64];

		r->bad |= now->nr_earlier == MAX_EARLIER;
		if (r->bad)
			break;
		take_text(r, id, sizeof(id));
		e->kind = kind_find(id);
		e->packets = take_uint(r);
		e->ago = take_double(r);
		now->nr_earlier += !!e->kind;
	}
	for (unsigned i = 0; i < now->nr && !r->bad; i++)
		r->bad |= now->list[i].under >= (int)now->nr || now->list[i].under < -1;
	return !r->bad;
}
