/* SPDX-License-Identifier: GPL-2.0 */
/* What `nicprobe doctor` answers: as text, and the suggested commands as a script. */
#include <inttypes.h>
#include <string.h>

#include "cmd/doctor.h"
#include "lib/util/log.h"
#include "render/findings.h"
#include "render/shown.h"
#include "render/units.h"

#define COLUMN	10	/* texts begin here, after their headings */

static const char *number(double n, const char *what)
{
	char digits[UNITS_SIZE];

	units_count(digits, n);
	return text("%s %s%s", digits, what, n == 1 ? "" : "s");
}

static unsigned judged(const struct patient *p)
{
	return p->checks.count[CHECK_WELL] + p->checks.count[CHECK_FOUND];
}

/* "eth1 is not well: 2 findings, of 81 checks" */
static const char *verdict(const struct doctor *d, const struct patient *p)
{
	unsigned bad = troubles(d, p), mild = findings_count(&p->now.findings, 0) - bad;
	const char *found = bad ? number(bad, "finding") : "no findings";

	if (mild)
		found = text("%s, and %u milder", found, mild);
	return text("%s is %swell: %s, of %s", p->now.name, bad ? "not " : "", found,
		    number(judged(p), "check"));
}

static void heading(struct page *p, const char *words)
{
	page_style(p, STYLE_BOLD);
	page_wrap(p, 2, words);
	page_style(p, STYLE_PLAIN);
	page_newline(p);
}

static void about(struct page *p, const struct patient *one)
{
	const struct snapshot *s = &one->now;
	char received[UNITS_SIZE], sent[UNITS_SIZE];

	if (s->meta.host) {
		page_wrap(p, 2, text("%s, watched for %s", target_text(&s->meta),
				     finding_time(s->seconds)));
		page_newline(p);
		return;
	}
	units_count(received, packets_received(s));
	units_count(sent, packets_sent(s));
	page_wrap(p, 2, text("%s, MTU %u; received %s and sent %s packets in %s; all settings: "
			     "nicprobe show %s hw", target_text(&s->meta), one->hw.iface.mtu,
			     received, sent, finding_time(s->seconds), s->name));
	page_newline(p);
}

/* Those of a subject. */
static unsigned count(const struct checks *c, const struct subject *of, enum checked is)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < c->nr; i++)
		nr += c->list[i].subject == of && c->list[i].is == is;
	return nr;
}

/* "5 of 6 checks"; a line for each subject. `name` stands before the first. */
static void well(struct page *p, const struct checks *c)
{
	const char *name = "well";

	for (const struct subject *const *s = subjects; *s; s++) {
		unsigned nr = count(c, *s, CHECK_WELL);
		unsigned all = nr + count(c, *s, CHECK_FOUND) + count(c, *s, CHECK_UNASKED);

		if (!nr)
			continue;
		page_line(p, 0, name, COLUMN, text("%s: %s%s", (*s)->title, nr < all ?
						   text("%u of ", nr) : "", number(all, "check")));
		name = "";
	}
}

/* Is this the first check that was not made for its reason? */
static bool is_first(const struct checks *c, unsigned at)
{
	unsigned i = 0;

	while (i < at && strcmp(c->list[i].why, c->list[at].why))
		i++;
	return i == at;
}

/* The checks that were not made for the same reason, by subject: "Interrupts (4)". */
static const char *list(const struct checks *c, const char *why)
{
	const char *all = "";

	for (const struct subject *const *s = subjects; *s; s++) {
		unsigned nr = 0;

		for (unsigned i = 0; i < c->nr; i++)
			nr += c->list[i].subject == *s && !strcmp(c->list[i].why, why);
		if (nr)
			all = text("%s%s%s (%u)", all, *all ? "; " : "", (*s)->title, nr);
	}
	return all;
}

static void unasked(struct page *p, const struct checks *c)
{
	const char *name = "unchecked";

	for (unsigned i = 0; i < c->nr; i++) {
		const char *why = c->list[i].why;

		if (c->list[i].is != CHECK_UNASKED || !is_first(c, i))
			continue;
		page_line(p, 0, name, COLUMN, text("%s", why));
		page_spaces(p, COLUMN + 2);
		page_style(p, STYLE_DIM);
		page_wrap(p, COLUMN + 2, list(c, why));
		page_style(p, STYLE_PLAIN);
		page_newline(p);
		name = "";
	}
}

static void details(struct page *p, const struct patient *one)
{
	about(p, one);
	if (one->now.findings.nr)
		page_newline(p);
	findings_costs(p, &one->now);
	page_newline(p);
	well(p, &one->checks);
	unasked(p, &one->checks);
}

static void measuring(struct page *p, const struct doctor *d)
{
	const char *share = d->share < 0 ? "" :
			    text("; then measuring took %.2f%% of a CPU", 100 * d->share);

	page_line(p, 0, "cost", COLUMN, text("attaching took %s%s; nothing stays attached",
					     finding_time(d->attaching), share));
}

/* "2 of 5 interfaces are not well: eth1, eth3" */
static void summary(struct page *p, const struct doctor *d)
{
	unsigned bad = 0, asked = 0;
	const char *names = "";

	for (unsigned i = 0; i < d->nr; i++) {
		const struct patient *one = &d->patients[i];

		asked += !unjudged(one);
		if (!troubles(d, one))
			continue;
		names = text("%s%s%s", names, bad++ ? ", " : "", one->now.name);
	}
	if (bad)
		heading(p, text("%u of %s %s not well: %s", bad, number(d->nr, "interface"),
				bad == 1 ? "is" : "are", names));
	else if (asked == d->nr)
		heading(p, text("all %u interfaces are well", d->nr));
	else
		heading(p, text("%u of %u interfaces are well; nothing can be said of the others",
				asked, d->nr));
}

void doctor_print(const struct doctor *d)
{
	struct page p = terminal_page(stdout, 40);

	if (d->nr > 1) {
		summary(&p, d);
		page_newline(&p);
	}
	for (unsigned i = 0; i < d->nr; i++) {
		const struct patient *one = &d->patients[i];

		if (unjudged(one)) {
			page_remark(&p, 0, text("%s: %s", one->name, unjudged(one)));
			continue;
		}
		heading(&p, verdict(d, one));
		if (d->nr == 1 || one->now.findings.nr) {
			details(&p, one);
			page_newline(&p);
		}
	}
	measuring(&p, d);
}

/* One line, whatever is in it. */
static void comment(const char *words)
{
	fputs("# ", stdout);
	text_harmless(stdout, words, terminal_look().utf8);
	putchar('\n');
}

static void script_of(const struct finding *f, const struct snapshot *s)
{
	char line[4 * FIX_ROOM];

	putchar('\n');
	comment(text("%s %s: %s", severity_names[f->severity], f->kind->id, f->what));
	if (*f->changes)
		comment(text("changes: %s", f->changes));
	if (*f->advice)
		comment(text("%s%s", f->nr_fixes ? "also: " : "no command for it: ", f->advice));
	for (unsigned i = 0; i < f->nr_fixes; i++) {
		fix_shell(s, f, i, line, sizeof(line));
		puts(line);
	}
}

void doctor_script(const struct doctor *d)
{
	puts("#!/bin/sh");
	for (unsigned i = 0; i < d->nr; i++) {
		const struct patient *one = &d->patients[i];

		if (unjudged(one)) {
			comment(text("%s: %s", one->name, unjudged(one)));
			continue;
		}
		comment(verdict(d, one));
		for (unsigned k = 0; k < one->now.findings.nr; k++)
			if (one->now.findings.list[k].under < 0)
				script_of(&one->now.findings.list[k], &one->now);
	}
}
