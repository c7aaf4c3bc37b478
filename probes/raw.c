/* SPDX-License-Identifier: GPL-2.0 */
/* The functions and tracepoints that a question names, and the numbers that its events have. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/error.h"
#include "lib/util/grow.h"
#include "lib/util/log.h"
#include "lib/util/near.h"
#include "probes/raw.h"

#define RAW	(probe_bit(PROBE_fbt_entry) | probe_bit(PROBE_fbt_return) | \
		 probe_bit(PROBE_sdt_event))

struct raw_list raw_asked;

bool raw_has(probe_set probes)
{
	return probes & RAW;
}

bool raw_is(const char *pattern)
{
	static const char *const providers[] = { "fbt", "sdt", "perf" };
	size_t len = strcspn(pattern, ":");

	for (unsigned i = 0; i < 3; i++)
		if (strlen(providers[i]) == len && !strncmp(pattern, providers[i], len))
			/* without a group, sdt has stable probes */
			return pattern[len] && (i != 1 || pattern[len + 1] != ':');
	return false;
}

const char *raw_name(const struct raw_named *s)
{
	if (s->probe == PROBE_sdt_event)
		return text("sdt:%s::%s", s->module, s->name);
	return text("fbt:%s:%s:%s", s->module, s->name, stable_probes[s->probe].name);
}

void raw_forget(void)
{
	free(raw_asked.list);
	raw_asked = (struct raw_list){};
}

static bool same_spot(const struct raw_named *a, const struct raw_named *b)
{
	return a->probe == b->probe && a->address == b->address && !strcmp(a->name, b->name) &&
	       !strcmp(a->module, b->module);
}

/* The numbers by which events are told apart and compared. */
static void number(unsigned n)
{
	struct raw_named *s = &raw_asked.list[n];
	unsigned function = 0, module = 0;

	while (raw_asked.list[function].probe == PROBE_sdt_event ||
	       strcmp(raw_asked.list[function].name, s->name))
		if (function++ == n)
			break;
	while (strcmp(raw_asked.list[module].module, s->module))
		module++;
	s->spot.function = function < n ? function : n;
	s->spot.module = module;
	s->spot.probe = s->probe;
	s->spot.begins = s->begins;
}

static int add(const struct raw_named *one, const char *where, struct error *e)
{
	struct raw_named *list;

	for (unsigned i = 0; i < raw_asked.nr; i++) {
		if (!same_spot(&raw_asked.list[i], one))
			continue;
		if (raw_asked.list[i].begins == one->begins)
			return 0;
		return error_set(e, -EINVAL, NULL, "%s: %s is traced itself", where,
				 raw_name(one));
	}
	list = grow(raw_asked.list, raw_asked.nr, sizeof(*list));
	if (!list)
		return error_set(e, -ENOMEM, NULL, "out of memory");
	raw_asked.list = list;
	list[raw_asked.nr++] = *one;
	return 0;
}

int raw_ask(const char *where, const char *pattern, bool begins, probe_set *probes,
	    struct error *e)
{
	struct raw_list found = {};
	int err = raw_find(where, pattern, &found, e);

	if (!err && raw_asked.nr + found.nr > RAW_MOST)
		err = error_set(e, -E2BIG, text("nicprobe list '%s'", pattern),
				"%s: %s names %u functions or tracepoints; the most at once are %u",
				where, pattern, found.nr, RAW_MOST);
	if (!err)
		raw_describe(&found);
	for (unsigned i = 0; !err && i < found.nr; i++) {
		found.list[i].begins = begins;
		err = add(&found.list[i], where, e);
		*probes |= probe_bit(found.list[i].probe);
	}
	for (unsigned i = 0; !err && i < raw_asked.nr; i++)
		number(i);
	free(found.list);
	return err;
}

static const char *of_spot(enum field_format format, const struct raw_named *s)
{
	switch (format) {
	case FORMAT_PROBE:
		return raw_name(s);
	case FORMAT_MODULE:
		return *s->module ? s->module : "vmlinux";
	default:
		return s->probe == PROBE_sdt_event ? NULL : s->name;
	}
}

static __u32 number_of(enum field_format format, const struct raw_named *s)
{
	switch (format) {
	case FORMAT_PROBE:
		return RAW_PROBE(s->probe, (__u32)(s - raw_asked.list));
	case FORMAT_MODULE:
		return s->spot.module;
	default:
		return RAW_FUNCTION | s->spot.function;
	}
}

const char *raw_text(enum field_format format, __u32 number)
{
	unsigned spot = format == FORMAT_PROBE ? RAW_SPOT(number) : number & ~RAW_FUNCTION;

	return spot < raw_asked.nr ? of_spot(format, &raw_asked.list[spot]) : NULL;
}

bool raw_number(enum field_format format, const char *name, __u32 *number)
{
	for (unsigned i = 0; i < raw_asked.nr; i++) {
		const char *known = of_spot(format, &raw_asked.list[i]);

		if (known && !strcmp(known, name)) {
			*number = number_of(format, &raw_asked.list[i]);
			return true;
		}
	}
	return false;
}

void raw_near(enum field_format format, struct near *near)
{
	for (unsigned i = 0; i < raw_asked.nr; i++) {
		const char *known = of_spot(format, &raw_asked.list[i]);

		if (known)
			near_try(near, known);
	}
}
