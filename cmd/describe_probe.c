/* SPDX-License-Identifier: GPL-2.0 */
/* nicprobe list PROBE, and list -v PROBE: the stable probes, and what each tells here. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/describe.h"
#include "lib/kernel/tracefs.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "probes/probe.h"
#include "render/json_writer.h"
#include "render/text.h"

#define COLUMN 18

/* Groups that a field of this probe may have, by whatever source; and here. */
static __u64 groups_of(enum stable_probe p, bool here)
{
	__u64 groups = 1ull << GROUP_BASE;

	for (const struct serving *s = servings; s->probe != NR_STABLE_PROBES; s++)
		if (s->probe == p && (!here || !source_lacks(s->source)))
			groups |= s->groups;
	return groups;
}

static const struct serving *first_here(enum stable_probe p)
{
	for (const struct serving *s = servings; s->probe != NR_STABLE_PROBES; s++)
		if (s->probe == p && !source_lacks(s->source))
			return s;
	return NULL;
}

static void sources_print(struct page *page, enum stable_probe p)
{
	const struct serving *first = first_here(p);

	for (const struct serving *s = servings; s->probe != NR_STABLE_PROBES; s++) {
		const char *lacks;

		if (s->probe != p)
			continue;
		lacks = source_lacks(s->source);
		page_line(page, 4, s == first ? "source" : lacks ? "not here" : "also", COLUMN,
			  lacks ? text("%s: %s", source_name(s->source), lacks) :
			  text("%s (%s)%s%s", source_name(s->source), grade_names[s->grade],
			       s->note ? ". " : "", s->note ?: ""));
	}
}

static void fields_print(struct page *page, enum stable_probe p)
{
	const struct serving *best = first_here(p);
	__u64 ever = groups_of(p, false), here = groups_of(p, true);

	for (const struct field *f = fields; f->name; f++) {
		const char *where = "";

		if (!(ever >> f->group & 1))
			continue;
		if (!(here >> f->group & 1))
			where = " (not here)";
		else if (best && !((best->groups | 1ull << GROUP_BASE) >> f->group & 1))
			where = " (by another source)";
		page_line(page, 4, f->name, COLUMN + 4,
			  text("%s: %s%s%s%s%s", field_type(f), f->help, f->unit ? ", " : "",
			       f->unit ?: "", where, ""));
	}
}

static void probe_print(struct page *page, enum stable_probe p)
{
	const struct stable *s = &stable_probes[p];

	page_wrap(page, 2, text("%s  %s", probe_name(p), s->help));
	page_newline(page);
	page_remark(page, 4, "Names and data are Evolving, their dependency class is ISA: "
		    "as DTrace calls it.");
	for (unsigned i = 0; i < PROBE_ARGS; i++)
		if (s->args[i])
			page_line(page, 4, text("args[%u]", i), COLUMN, s->args[i]);
	sources_print(page, p);
	fields_print(page, p);
	if (!(groups_of(p, false) >> GROUP_PROC & 1))
		page_line(page, 4, "pid, execname", COLUMN + 4,
			  "not known: it happens in interrupts, where any task may be current");
}

static void strings_json(struct json *j, const struct stable *s)
{
	json_open(j, "args", '[');
	for (unsigned i = 0; i < PROBE_ARGS; i++)
		if (s->args[i])
			json_string(j, NULL, s->args[i]);
		else
			json_null(j, NULL);
	json_close(j);
}

static void probe_json(struct json *j, enum stable_probe p)
{
	__u64 here = groups_of(p, true);

	json_open(j, NULL, '{');
	json_string(j, "probe", probe_name(p));
	json_string(j, "help", stable_probes[p].help);
	strings_json(j, &stable_probes[p]);
	json_open(j, "sources", '[');
	for (const struct serving *s = servings; s->probe != NR_STABLE_PROBES; s++) {
		if (s->probe != p)
			continue;
		json_open(j, NULL, '{');
		json_string(j, "source", source_name(s->source));
		json_string(j, "grade", grade_names[s->grade]);
		if (s->note)
			json_string(j, "note", s->note);
		if (source_lacks(s->source))
			json_string(j, "absent", source_lacks(s->source));
		json_close(j);
	}
	json_close(j);
	json_open(j, "fields", '[');
	for (const struct field *f = fields; f->name; f++) {
		if (!(groups_of(p, false) >> f->group & 1))
			continue;
		json_open(j, NULL, '{');
		json_string(j, "field", f->name);
		json_string(j, "type", field_type(f));
		if (f->of)
			json_string(j, "of", f->of);
		if (f->unit)
			json_string(j, "unit", f->unit);
		json_string(j, "help", f->help);
		json_bool(j, "here", here >> f->group & 1);
		json_close(j);
	}
	json_close(j);
	json_close(j);
}

int describe_probes(struct page *page, const char *pattern, bool verbose, bool as_json)
{
	struct json j = { .out = page->out };
	char function[64];
	probe_set match = probes_match(pattern, function);

	if (!match)
		return -ENOENT;
	if (as_json)
		json_open(&j, NULL, '[');
	for (int p = 0; p < NR_STABLE_PROBES; p++) {
		if (!(match >> p & 1))
			continue;
		if (as_json) {
			probe_json(&j, p);
		} else if (verbose) {
			probe_print(page, p);
		} else {
			const struct serving *s = first_here(p);

			page_line(page, 0, probe_name(p), 30,
				  s ? stable_probes[p].help :
				  text("%s Not here.", stable_probes[p].help));
		}
	}
	if (as_json) {
		json_close(&j);
		fputc('\n', page->out);
	}
	return 0;
}
