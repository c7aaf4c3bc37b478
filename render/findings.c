/* SPDX-License-Identifier: GPL-2.0 */
/* Findings as text and as JSON. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "lib/util/log.h"
#include "render/findings.h"
#include "render/shown.h"
#include "render/units.h"

#define INDENT	10	/* room for the severity: "critical  " */
#define NARROW	60	/* narrower pages have no such indent */

static unsigned indent(const struct page *p)
{
	return p->width < NARROW ? 2 : INDENT;
}

static const char *style_of(enum severity severity)
{
	return severity == SEVERITY_CRITICAL ? STYLE_RED : severity == SEVERITY_WARNING ?
		STYLE_YELLOW :
	       STYLE_DIM;
}

const char *netns_in(const char *label)
{
	const char *slash = strchr(label, '/');

	if (!slash || !strncmp(label, "netns:", 6))
		return "";
	return text("%.*s", (int)(slash - label), label);
}

/* Must the command run in the namespace? Not ours (it takes NETNS/IFACE), nor for host settings. */
static bool is_inside(const struct finding *f, const char *command)
{
	return !f->host && strcmp(command, "nicprobe");
}

static void try_line(struct page *p, const struct snapshot *s, const struct finding *f)
{
	char words[MAX_FIXES * FIX_ROOM];

	finding_try(f, words, sizeof(words));
	if (!*words)
		return;
	page_spaces(p, indent(p));
	if (*netns_of(s) && (!f->nr_fixes || is_inside(f, f->fixes[0])))
		page_put(p, text("in %s, ", netns_of(s)), -1);
	page_put(p, "try:", -1);
	page_spaces(p, 1);
	page_wrap(p, indent(p) + 5, words);
	page_newline(p);
}

/* "id:" of the kind, in its column. */
static void id_put(struct page *p, const struct finding_kind *kind)
{
	page_to(p, indent(p));
	page_put(p, kind->id, -1);
	page_put(p, ":", -1);
}

static void what_line(struct page *p, const struct finding *f, const char *before)
{
	page_style(p, style_of(f->severity));
	page_put(p, before, -1);
	id_put(p, f->kind);
	page_style(p, STYLE_PLAIN);
	page_spaces(p, 1);
	page_wrap(p, indent(p), f->what);
	if (f->others)
		page_wrap(p, indent(p), text(" (and %u more queue%s)", f->others,
					  f->others == 1 ? "" : "s"));
	page_newline(p);
}

static time_t when_last(const struct snapshot *s, const struct earlier *e)
{
	return s->when.tv_sec - (time_t)e->ago;
}

/* With the date unless it was today. */
static void earlier_line(struct page *p, const struct snapshot *s, const struct earlier *e)
{
	char clock[32], ago[UNITS_SIZE];
	time_t last = when_last(s, e);
	struct tm then, now;

	localtime_r(&last, &then);
	localtime_r(&s->when.tv_sec, &now);
	strftime(clock, sizeof(clock), then.tm_yday == now.tm_yday && then.tm_year == now.tm_year ?
		 "%T" : "%F %T", &then);
	units_duration(ago, (time_t)e->ago);
	page_styled(p, STYLE_DIM, "earlier");
	id_put(p, e->kind);
	page_spaces(p, 1);
	page_wrap(p, indent(p), text("%" PRIu64 " packet%s, until %s (%s ago)", e->packets,
				     e->packets == 1 ? "" : "s", clock, ago));
	page_newline(p);
}

/* "lost 618 packets", "share 22%", "port 9" */
const char *finding_fact_text(const struct fact *f)
{
	char value[UNITS_SIZE];

	if (!strcmp(f->unit, "ratio"))
		return text("%s %.3g%%", f->name, 100 * f->value);
	if (!strcmp(f->unit, "seconds"))
		return text("%s %s", f->name, finding_time(f->value));
	units_count(value, f->value);
	return !strcmp(f->name, f->unit) ? text("%s %s", f->name, value) :
					   text("%s %s %s", f->name, value, f->unit);
}

static void cost_line(struct page *p, const struct finding *f)
{
	const char *facts = "";

	for (unsigned i = 0; i < f->nr_facts; i++)
		facts = text("%s%s%s", facts, *facts ? ", " : "", finding_fact_text(&f->facts[i]));
	page_spaces(p, indent(p));
	page_put(p, "cost:", -1);
	page_spaces(p, 1);
	page_wrap(p, indent(p) + 6, harm_text(f));
	if (*facts)
		page_wrap(p, indent(p) + 6, text("; evidence: %s", facts));
	page_newline(p);
}

/* One that stands by itself, and what follows from it. */
static void group(struct page *p, const struct snapshot *s, unsigned at, bool costs)
{
	const struct findings *f = &s->findings;

	what_line(p, &f->list[at], severity_names[f->list[at].severity]);
	if (costs)
		cost_line(p, &f->list[at]);
	try_line(p, s, &f->list[at]);
	for (unsigned k = 0; k < f->nr; k++)
		if (f->list[k].under == (int)at)
			what_line(p, &f->list[k], "  causes");
}

void findings_costs(struct page *p, const struct snapshot *s)
{
	for (unsigned i = 0; i < s->findings.nr; i++)
		if (s->findings.list[i].under < 0)
			group(p, s, i, true);
}

void findings_table(struct page *p, const struct snapshot *s)
{
	const struct findings *f = &s->findings;

	for (unsigned i = 0; i < f->nr; i++)
		if (f->list[i].under < 0)
			group(p, s, i, false);
	for (unsigned i = 0; i < f->nr_earlier; i++)
		earlier_line(p, s, &f->earlier[i]);
}

static void facts(struct json *j, const struct finding *f)
{
	json_open(j, "evidence", '{');
	for (unsigned i = 0; i < f->nr_facts; i++) {
		json_open(j, f->facts[i].name, '{');
		json_double(j, "value", f->facts[i].value);
		json_string(j, "unit", f->facts[i].unit);
		json_close(j);
	}
	json_close(j);
}

void fix_shell(const struct snapshot *s, const struct finding *f, unsigned nr, char *line,
	       size_t size)
{
	char all[2 * FIX_ROOM];
	size_t at = 0;

	if (*netns_of(s) && is_inside(f, f->fixes[nr]))
		at = snprintf(all, FIX_ROOM, "ip%cnetns%cexec%c%s", 0, 0, 0, netns_of(s)) + 1;
	memcpy(all + at, f->fixes[nr], FIX_ROOM);
	fix_text(all, line, size);
}

/* The command as an argument vector, prefixed to run in the namespace of the interface. */
static void argv(struct json *j, const struct snapshot *s, const struct finding *f,
		 const char *words)
{
	json_open(j, NULL, '[');
	if (*netns_of(s) && is_inside(f, words)) {
		json_string(j, NULL, "ip");
		json_string(j, NULL, "netns");
		json_string(j, NULL, "exec");
		json_string(j, NULL, netns_of(s));
	}
	for (; *words; words += strlen(words) + 1)
		json_string(j, NULL, words);
	json_close(j);
}

/* The limits that the finding compares with. */
static void threshold(struct json *j, const struct finding_kind *k)
{
	json_open(j, "threshold", '[');
	for (unsigned i = 0; i < MAX_LIMITS && k->limits[i]; i++) {
		json_open(j, NULL, '{');
		json_double(j, "value", k->limits[i]->value);
		json_string(j, "text", k->limits[i]->text);
		json_close(j);
	}
	json_close(j);
}

/* Start of the window that was diagnosed, or the time of attach. */
static void since(struct json *j, const struct snapshot *s)
{
	struct timespec from = s->when;
	time_t whole = s->seconds;

	if (s->seconds <= 0) {
		json_null(j, "since");
		return;
	}
	from.tv_sec -= whole;
	from.tv_nsec -= (s->seconds - whole) * 1e9;
	if (from.tv_nsec < 0) {
		from.tv_nsec += 1000000000;
		from.tv_sec--;
	}
	json_time(j, "since", &from);
}

static void finding_json(struct json *j, const struct snapshot *s, const struct finding *f)
{
	char words[MAX_FIXES * FIX_ROOM];

	json_open(j, NULL, '{');
	json_string(j, "id", f->kind->id);
	json_string(j, "severity", severity_names[f->severity]);
	json_string(j, "what", f->what);
	json_string(j, "means", f->kind->means);
	if (f->queue < 0)
		json_null(j, "queue");
	else
		json_uint(j, "queue", f->queue);
	json_uint(j, "others", f->others);
	since(j, s);
	json_open(j, "harm", '{');
	json_string(j, "kind", harm_names[f->kind->harm]);
	json_double(j, "value", f->harm);
	json_string(j, "unit", harm_units[f->kind->harm]);
	json_double(j, "packets_per_second", f->struck);
	json_close(j);
	facts(j, f);
	threshold(j, f->kind);
	finding_try(f, words, sizeof(words));
	json_string(j, "try", words);
	json_open(j, "fix", '[');
	for (unsigned i = 0; i < f->nr_fixes; i++)
		argv(j, s, f, f->fixes[i]);
	json_close(j);
	json_string_or_null(j, "changes", f->changes);
	json_string_or_null(j, "follows", f->under < 0 ? "" :
			    s->findings.list[f->under].kind->id);
	json_close(j);
}

/* Earlier drops that have stopped; only with a window, which separates past from present. */
static void earlier_json(struct json *j, const struct snapshot *s)
{
	const struct findings *f = &s->findings;
	char time[32];
	struct tm tm;

	json_open(j, "earlier", '[');
	for (unsigned i = 0; i < f->nr_earlier; i++) {
		time_t last = when_last(s, &f->earlier[i]);

		strftime(time, sizeof(time), "%FT%TZ", gmtime_r(&last, &tm));
		json_open(j, NULL, '{');
		json_string(j, "id", f->earlier[i].kind->id);
		json_uint(j, "packets", f->earlier[i].packets);
		json_string(j, "until", time);
		json_double(j, "seconds_ago", f->earlier[i].ago);
		json_close(j);
	}
	json_close(j);
}

void findings_json(struct json *j, const struct snapshot *s)
{
	json_open(j, "findings", '[');
	for (unsigned i = 0; i < s->findings.nr; i++)
		finding_json(j, s, &s->findings.list[i]);
	json_close(j);
	if (s->interval)
		earlier_json(j, s);
}
